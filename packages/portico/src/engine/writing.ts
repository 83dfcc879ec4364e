// The writes of one transaction on behalf of one caller: the row, the hooks around it, the event beside it.

import type { Caller } from "../declare/caller.ts";
import { explainedFailure } from "../declare/explained-failures.ts";
import type { ActionModel, Described, Model, ResourceModel } from "../declare/model.ts";
import type { HookContext, Rows } from "../declare/resource.ts";
import { Problem } from "../errors.ts";
import type { Event, EventRecorder } from "../events/event.ts";
import { newId } from "../plan/id.ts";
import type { Condition } from "../plan/read.ts";
import { wholeRow } from "../plan/selection.ts";
import type { RowValues } from "../plan/write.ts";
import type { Transaction } from "../store/database.ts";
import type { Lock } from "../store/dialect.ts";
import type { Store } from "../store/store.ts";
import { type Attempt, explainInner, explainRemoval, redrawn } from "./constraint.ts";
import { dependentsOf, rowIds } from "./dependents.ts";
import { findLocked, notFound, requireParentRow } from "./find-row.ts";
import { hookRows } from "./hook-rows.ts";
import { ownPolicyConditions } from "./policy.ts";
import { changedReferences, requireVisibleReferences } from "./references.ts";
import { holdAll } from "./row-conditions.ts";
import {
  changedValues,
  givenValues,
  partsOf,
  standingValue,
  wholeValues,
  withSearched,
} from "./row-values.ts";
import type { BodyValidator } from "./validate.ts";

/** A row that was written. */
export interface Written {
  readonly id: string;
  /** The row as JSON text. */
  readonly text: string;
  /** Members that only the answer of this write shows. */
  readonly revealed?: Readonly<Record<string, unknown>>;
}

/** Looks at a row as it stands before it is written, and throws where the caller expected another. */
export type Precondition = (text: string) => void;

/** What every transaction works with. */
export interface Workplace {
  readonly model: Model;
  readonly store: Store;
  readonly events: EventRecorder;
  readonly validator: BodyValidator;
}

export class Writing {
  readonly #place: Workplace;
  readonly #session: Transaction;
  readonly #caller: Caller;
  /** The moment of everything that is written together. */
  readonly #now: string;
  /** Rows whose removal has begun: those that refer to each other are not removed in turn without end. */
  readonly #removing = new Set<string>();
  /** Whether hooks write: their references may lead to rows that the caller does not see. */
  readonly #isByHook: boolean;
  /** The row that was to be written, for the explanation of a broken constraint. */
  attempt: Attempt = { values: {}, byCaller: {} };

  constructor(
    place: Workplace,
    session: Transaction,
    caller: Caller,
    { now = new Date().toISOString(), isByHook = false } = {},
  ) {
    this.#place = place;
    this.#session = session;
    this.#caller = caller;
    this.#now = now;
    this.#isByHook = isByHook;
  }

  /** Adds a row from a checked body, and from what only hooks may give. */
  async insert(
    resource: ResourceModel,
    input: RowValues,
    parentId?: string,
    byServer: RowValues = {},
  ): Promise<Written> {
    const { parent, hooks, idPrefix } = resource;
    const { tenantId } = this.#caller;
    await this.#requireParent(resource, parentId);
    await this.#requireReferences(resource, input);
    const values = { ...wholeValues(resource.attributes, input, this.#caller, this.#now), ...byServer };
    const revealed = {};
    const context = this.#context(revealed);
    const hooked = this.#hookedValues(resource, await hooks.before?.create?.(values, context));
    const id = newId(idPrefix);
    const above = parent && { [parent.name]: parentId };
    const row = { ...values, ...hooked, ...above, id, createdAt: this.#now, updatedAt: this.#now };
    this.#requirePolicy(resource, row);
    this.attempt = { values: row, byCaller: input };
    const text = await this.#place.store.insert(this.#session, { resource, tenantId, values: row });
    await this.#record(resource, "created", { id, text });
    if (!hooks.after?.create) return { id, text, revealed };
    await hooks.after.create(JSON.parse(text), context);
    return { id, text: await this.#written(resource, id, text), revealed };
  }

  /** Changes a row to what `changesTo` makes of it. */
  async update(
    resource: ResourceModel,
    id: string,
    changesTo: (current: RowValues, now: string) => RowValues,
    precondition?: Precondition,
  ): Promise<Written> {
    const { hooks } = resource;
    const { tenantId } = this.#caller;
    const current = await this.#current(resource, id, precondition);
    const changes = { ...changesTo(current, this.#now) };
    const references = changedReferences(resource, changes, current);
    await this.#requireReferences(resource, references);
    const revealed = {};
    const context = this.#context(revealed);
    const given = await hooks.before?.change?.(changes, { ...context, current });
    const values = { ...changes, ...this.#hookedValues(resource, given), updatedAt: this.#now };
    const row = { ...current, ...values };
    this.#requirePolicy(resource, row);
    this.attempt = { values: row, byCaller: references };
    const update = { resource, tenantId, id, values: withSearched(resource, values, row) };
    const text = (await this.#place.store.update(this.#session, update)) ?? notFound(resource);
    await this.#record(resource, "changed", { id, text });
    if (!hooks.after?.change) return { id, text, revealed };
    await hooks.after.change(JSON.parse(text), { ...context, previous: current });
    return { id, text: await this.#written(resource, id, text), revealed };
  }

  /** The row after its hook, which may have written it once more. */
  async #written(resource: ResourceModel, id: string, text: string): Promise<string> {
    const read = { resource, selection: wholeRow(resource), id, conditions: [] };
    return (await this.#place.store.get(this.#caller.tenantId, read, this.#session)) ?? text;
  }

  /** Runs an action on a row. */
  async act(resource: ResourceModel, id: string, action: ActionModel, input: RowValues): Promise<Written> {
    const current = await this.#current(resource, id, undefined);
    await this.#requireReferences(action, input);
    const said = wholeValues(action.attributes, input, this.#caller, this.#now);
    const revealed = {};
    const answer = await action.run(current, said, this.#context(revealed));
    // A row that a hook made comes with what was revealed of it.
    const { row, others } = Object.groupBy(Object.entries(answer), ([name]) =>
      resource.attribute.has(name) ? "row" : "others",
    );
    Object.assign(revealed, Object.fromEntries(others ?? []));
    return { id: answer.id, text: JSON.stringify(Object.fromEntries(row ?? [])), revealed };
  }

  /** Removes a row and everything under it, or marks it as removed. */
  async delete(resource: ResourceModel, id: string, precondition?: Precondition): Promise<void> {
    await this.#delete(resource, id, await this.#current(resource, id, precondition, "removal"));
  }

  async #delete(resource: ResourceModel, id: string, current: Record<string, unknown>): Promise<void> {
    const { hooks, removalMark } = resource;
    const { tenantId } = this.#caller;
    this.#removing.add(id);
    if (removalMark && current[removalMark.name] !== null) return;
    const context = this.#context({});
    await hooks.before?.remove?.({ ...context, current });
    await this.#deleteDependents(resource, id);
    const row = { resource, tenantId, id };
    const text = removalMark
      ? await this.#place.store.update(this.#session, {
          ...row,
          values: { [removalMark.name]: this.#now, updatedAt: this.#now },
        })
      : await this.#place.store.delete(this.#session, row);
    await this.#record(resource, "removed", { id, text: text ?? notFound(resource) });
    await hooks.after?.remove?.(removalMark ? JSON.parse(text!) : current, context);
  }

  /** Removes all rows that meet the conditions. */
  async deleteAll(resource: ResourceModel, conditions: readonly Condition[]): Promise<void> {
    const { store } = this.#place;
    for await (const id of rowIds(store, this.#session, this.#caller.tenantId, resource, conditions)) {
      await this.#deleteListed(resource, id, conditions);
    }
  }

  /** A row that may have gone together with another one meanwhile. */
  async #deleteListed(resource: ResourceModel, id: string, conditions: readonly Condition[]): Promise<void> {
    if (this.#removing.has(id)) return;
    const read = { resource, selection: wholeRow(resource), id, conditions };
    const text = await this.#place.store.getLocked(this.#caller.tenantId, read, this.#session, "removal");
    if (text !== undefined) await this.#delete(resource, id, JSON.parse(text));
  }

  /** Rows that go together with the one they refer to. Those that are only marked let go of one that is gone. */
  async #deleteDependents(resource: ResourceModel, id: string): Promise<void> {
    const { model, store } = this.#place;
    const { tenantId } = this.#caller;
    for (const [dependent, attribute] of dependentsOf(model, resource)) {
      const condition: Condition = { attribute, operator: "in", values: [id] };
      for await (const each of rowIds(store, this.#session, tenantId, dependent, [condition])) {
        // It goes along also where a policy keeps it from the caller, as what stands under a row does.
        await this.#deleteListed(dependent, each, []);
        if (!dependent.removalMark || resource.removalMark) continue;
        const values = { [attribute.name]: null };
        await store.update(this.#session, { resource: dependent, tenantId, id: each, values });
      }
    }
  }

  /** The operations that hooks have; each stands under a savepoint of its own. */
  get rows(): Rows {
    const { model, store, validator } = this.#place;
    return hookRows(model, {
      get: (resource, id) => {
        const read = { resource, selection: wholeRow(resource), id, conditions: [] };
        // A hook decides by what it reads, so that must still hold when it writes.
        return store.getLocked(this.#caller.tenantId, read, this.#session, "change");
      },
      create: (resource, body, parentId) =>
        this.#inner(resource, async (part) => {
          const [input, byServer] = partsOf(resource, body);
          const own = this.#hookedValues(resource, byServer);
          return part.insert(resource, validator.checkWhole(resource, "create", input), parentId, own);
        }),
      change: (resource, id, body) =>
        this.#inner(resource, async (part) => {
          const input = validator.check(resource, "hooked", body);
          const changes = (current: RowValues): RowValues =>
            validator.checkMerged(resource, changedValues(resource, input, current));
          return (await part.update(resource, id, changes)).text;
        }),
      remove: (resource, id) => this.#inner(resource, (part) => part.delete(resource, id), explainRemoval),
    });
  }

  /** An operation of a hook: where it fails and the hook goes on, nothing of it remains. */
  async #inner<T>(
    resource: ResourceModel,
    work: (part: Writing) => Promise<T>,
    explain = explainInner,
  ): Promise<T> {
    try {
      return await redrawn(resource, () =>
        this.#session.nested((part) =>
          work(new Writing(this.#place, part, this.#caller, { now: this.#now, isByHook: true })),
        ),
      );
    } catch (error) {
      throw explain(error, resource);
    }
  }

  /** @param revealed where members that a hook reveals are put */
  #context(revealed: Record<string, unknown>): HookContext {
    const reveal: HookContext["reveal"] = (members) => void Object.assign(revealed, members);
    return { caller: this.#caller, now: this.#now, rows: this.rows, reveal };
  }

  /** The row as it stands, locked until the transaction ends. */
  async #current(
    resource: ResourceModel,
    id: string,
    precondition: Precondition | undefined,
    lock: Lock = "change",
  ): Promise<Record<string, unknown>> {
    const text = await findLocked(this.#place.store, this.#session, this.#caller, resource, id, lock);
    precondition?.(text);
    return JSON.parse(text);
  }

  async #requireParent({ parent, hooks }: ResourceModel, id = ""): Promise<void> {
    if (!parent) return;
    const { target } = parent.reference!;
    const { store } = this.#place;
    if (!hooks.before?.create && !hooks.after?.create)
      return requireParentRow(store, this.#session, this.#caller, target, id);
    // Hooks may go on to write the parent: what is found here must still hold then.
    await findLocked(store, this.#session, this.#caller, target, id, "change");
  }

  /** What a hook gives keeps to the declaration as well; a fault there is one of the code, not of the caller. */
  #hookedValues(resource: ResourceModel, given: RowValues | undefined): RowValues {
    if (given === undefined) return {};
    try {
      return givenValues(resource, this.#place.validator.check(resource, "hooked", given));
    } catch (error) {
      const fault = new Error(`a hook of ${resource.name} gave faulty values: ${(error as Error).message}`);
      throw this.#place.model.explainsFailures ? explainedFailure(fault.message, fault) : fault;
    }
  }

  async #requireReferences(described: Described, values: RowValues): Promise<void> {
    if (this.#isByHook) return;
    const { store } = this.#place;
    await requireVisibleReferences(store, this.#session, this.#caller, described, values);
  }

  /** What the row's own policy says of it; the row that it stands under was found visible, and stays the same. */
  #requirePolicy(resource: ResourceModel, row: RowValues): void {
    const conditions = ownPolicyConditions(this.#caller, resource);
    const standing = conditions.map(({ attribute }) => [
      attribute.name,
      standingValue(attribute, row, this.#now),
    ]);
    if (holdAll(conditions, Object.fromEntries(standing))) return;
    throw new Problem("forbidden", `The credential may not write such a ${resource.title}.`);
  }

  async #record(resource: ResourceModel, action: Event["action"], { id, text }: Written): Promise<void> {
    if (!resource.isRecorded) return;
    const { tenantId, credentialId } = this.#caller;
    const event = { tenantId, resource, action, rowId: id, row: text, credentialId, at: this.#now };
    await this.#place.events.record(this.#session, event);
  }
}

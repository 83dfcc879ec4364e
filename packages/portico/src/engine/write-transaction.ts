// The writes of one transaction on behalf of one caller: the row, the hooks around it, the event beside it.

import type { Caller } from "../declare/caller.ts";
import type { HookContext, Rows } from "../declare/resource.ts";
import { Problem } from "../errors.ts";
import type { Event, EventRecorder } from "../events/event.ts";
import { newId } from "../lib/id.ts";
import { explainedFailure } from "../model/explained-failures.ts";
import type { ActionModel, Model, ResourceModel, Shape } from "../model/model.ts";
import type { Condition } from "../query/read.ts";
import { wholeRow } from "../query/selection.ts";
import type { RowValues } from "../query/write.ts";
import type { Transaction } from "../store/database.ts";
import type { Lock } from "../store/dialect.ts";
import type { Store } from "../store/store.ts";
import {
  type AttemptedWrite,
  explainDeleteError,
  explainNestedError,
  retryOnCollision,
} from "./constraint.ts";
import { dependentsOf, rowIds } from "./dependents.ts";
import { findLocked, requireParentRow, throwNotFound } from "./find-row.ts";
import { hookRows } from "./hook-rows.ts";
import { ownPolicyConditions } from "./policy.ts";
import { changedReferences, requireVisibleReferences } from "./references.ts";
import { satisfiesAll } from "./row-conditions.ts";
import {
  currentValue,
  hookValues,
  insertValues,
  patchedValues,
  splitServerFields,
  withSearchFields,
} from "./validation/row-values.ts";
import type { BodyValidator } from "./validation/validate.ts";

/** A row that was written. */
export interface WriteResult {
  readonly id: string;
  /** The row as JSON text. */
  readonly text: string;
  /** Members that only the answer of this write shows. */
  readonly returnedOnce?: Readonly<Record<string, unknown>>;
}

/** Looks at a row as it stands before it is written, and throws where the caller expected another. */
export type Precondition = (text: string) => void;

/** What every transaction works with. */
export interface WriteDependencies {
  readonly model: Model;
  readonly store: Store;
  readonly events: EventRecorder;
  readonly validator: BodyValidator;
}

export class WriteTransaction {
  readonly #dependencies: WriteDependencies;
  readonly #session: Transaction;
  readonly #caller: Caller;
  /** The moment of everything that is written together. */
  readonly #now: string;
  /** Rows whose removal has begun: those that refer to each other are not removed in turn without end. */
  readonly #deleting = new Set<string>();
  /** Whether hooks write: their references may lead to rows that the caller does not see. */
  readonly #isByHook: boolean;
  /** The row that was to be written, for the explanation of a broken constraint. */
  attempted: AttemptedWrite = { values: {}, callerValues: {} };

  constructor(
    dependencies: WriteDependencies,
    session: Transaction,
    caller: Caller,
    { now = new Date().toISOString(), isByHook = false } = {},
  ) {
    this.#dependencies = dependencies;
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
    serverFields: RowValues = {},
  ): Promise<WriteResult> {
    const { parent, hooks, idPrefix } = resource;
    const { tenantId } = this.#caller;
    await this.#requireParent(resource, parentId);
    await this.#requireReferences(resource, input);
    const values = { ...insertValues(resource.attributes, input, this.#caller, this.#now), ...serverFields };
    const returnedOnce = {};
    const context = this.#context(returnedOnce);
    const hookResult = this.#hookValues(resource, await hooks.before?.create?.(values, context));
    const id = newId(idPrefix);
    const parentValues = parent && { [parent.name]: parentId };
    const row = { ...values, ...hookResult, ...parentValues, id, createdAt: this.#now, updatedAt: this.#now };
    this.#requirePolicy(resource, row);
    this.attempted = { values: row, callerValues: input };
    const text = await this.#dependencies.store.insert(this.#session, { resource, tenantId, values: row });
    await this.#record(resource, "created", { id, text });
    if (!hooks.after?.create) return { id, text, returnedOnce };
    await hooks.after.create(JSON.parse(text), context);
    return { id, text: await this.#reread(resource, id, text), returnedOnce };
  }

  /** Changes a row to what `changesTo` makes of it. */
  async update(
    resource: ResourceModel,
    id: string,
    changesTo: (current: RowValues, now: string) => RowValues,
    precondition?: Precondition,
  ): Promise<WriteResult> {
    const { hooks } = resource;
    const { tenantId } = this.#caller;
    const current = await this.#current(resource, id, precondition);
    const changes = { ...changesTo(current, this.#now) };
    const references = changedReferences(resource, changes, current);
    await this.#requireReferences(resource, references);
    const returnedOnce = {};
    const context = this.#context(returnedOnce);
    const hookResult = await hooks.before?.update?.(changes, { ...context, current });
    const values = { ...changes, ...this.#hookValues(resource, hookResult), updatedAt: this.#now };
    const row = { ...current, ...values };
    this.#requirePolicy(resource, row);
    this.attempted = { values: row, callerValues: references };
    const update = { resource, tenantId, id, values: withSearchFields(resource, values, row) };
    const text = (await this.#dependencies.store.update(this.#session, update)) ?? throwNotFound(resource);
    await this.#record(resource, "updated", { id, text });
    if (!hooks.after?.update) return { id, text, returnedOnce };
    await hooks.after.update(JSON.parse(text), { ...context, previous: current });
    return { id, text: await this.#reread(resource, id, text), returnedOnce };
  }

  /** The row after its hook, which may have written it once more. */
  async #reread(resource: ResourceModel, id: string, text: string): Promise<string> {
    const read = { resource, selection: wholeRow(resource), id, conditions: [] };
    return (await this.#dependencies.store.get(this.#caller.tenantId, read, this.#session)) ?? text;
  }

  /** Runs an action on a row. */
  async runAction(
    resource: ResourceModel,
    id: string,
    action: ActionModel,
    input: RowValues,
  ): Promise<WriteResult> {
    const current = await this.#current(resource, id, undefined);
    await this.#requireReferences(action, input);
    const completeInput = insertValues(action.attributes, input, this.#caller, this.#now);
    const returnedOnce = {};
    const result = await action.run(current, completeInput, this.#context(returnedOnce));
    // A row that a hook made comes with what was revealed of it.
    const { row, others } = Object.groupBy(Object.entries(result), ([name]) =>
      resource.attribute.has(name) ? "row" : "others",
    );
    Object.assign(returnedOnce, Object.fromEntries(others ?? []));
    return { id: result.id, text: JSON.stringify(Object.fromEntries(row ?? [])), returnedOnce };
  }

  /** Removes a row and everything under it, or marks it as removed. */
  async delete(resource: ResourceModel, id: string, precondition?: Precondition): Promise<void> {
    await this.#delete(resource, id, await this.#current(resource, id, precondition, "delete"));
  }

  async #delete(resource: ResourceModel, id: string, current: Record<string, unknown>): Promise<void> {
    const { hooks, markOnDelete } = resource;
    const { tenantId } = this.#caller;
    this.#deleting.add(id);
    if (markOnDelete && current[markOnDelete.name] !== null) return;
    const context = this.#context({});
    await hooks.before?.delete?.({ ...context, current });
    await this.#deleteDependents(resource, id);
    const row = { resource, tenantId, id };
    const text = markOnDelete
      ? await this.#dependencies.store.update(this.#session, {
          ...row,
          values: { [markOnDelete.name]: this.#now, updatedAt: this.#now },
        })
      : await this.#dependencies.store.delete(this.#session, row);
    await this.#record(resource, "deleted", { id, text: text ?? throwNotFound(resource) });
    await hooks.after?.delete?.(markOnDelete ? JSON.parse(text!) : current, context);
  }

  /** Removes all rows that meet the conditions. */
  async deleteAll(resource: ResourceModel, conditions: readonly Condition[]): Promise<void> {
    const { store } = this.#dependencies;
    for await (const id of rowIds(store, this.#session, this.#caller.tenantId, resource, conditions)) {
      await this.#deleteListed(resource, id, conditions);
    }
  }

  /** A row that may have gone together with another one meanwhile. */
  async #deleteListed(resource: ResourceModel, id: string, conditions: readonly Condition[]): Promise<void> {
    if (this.#deleting.has(id)) return;
    const read = { resource, selection: wholeRow(resource), id, conditions };
    const text = await this.#dependencies.store.getLocked(
      this.#caller.tenantId,
      read,
      this.#session,
      "delete",
    );
    if (text !== undefined) await this.#delete(resource, id, JSON.parse(text));
  }

  /** Rows that go together with the one they refer to. Those that are only marked let go of one that is gone. */
  async #deleteDependents(resource: ResourceModel, id: string): Promise<void> {
    const { model, store } = this.#dependencies;
    const { tenantId } = this.#caller;
    for (const [dependent, attribute] of dependentsOf(model, resource)) {
      const condition: Condition = { attribute, operator: "in", values: [id] };
      for await (const each of rowIds(store, this.#session, tenantId, dependent, [condition])) {
        // It goes along also where a policy keeps it from the caller, as what stands under a row does.
        await this.#deleteListed(dependent, each, []);
        if (!dependent.markOnDelete || resource.markOnDelete) continue;
        const values = { [attribute.name]: null };
        await store.update(this.#session, { resource: dependent, tenantId, id: each, values });
      }
    }
  }

  /** The operations that hooks have; each stands under a savepoint of its own. */
  get rows(): Rows {
    const { model, store, validator } = this.#dependencies;
    return hookRows(model, {
      get: (resource, id) => {
        const read = { resource, selection: wholeRow(resource), id, conditions: [] };
        // A hook decides by what it reads, so that must still hold when it writes.
        return store.getLocked(this.#caller.tenantId, read, this.#session, "update");
      },
      create: (resource, body, parentId) =>
        this.#nested(resource, async (part) => {
          const [input, byServer] = splitServerFields(resource, body);
          const own = this.#hookValues(resource, byServer);
          return part.insert(resource, validator.validateWhole(resource, "create", input), parentId, own);
        }),
      update: (resource, id, body) =>
        this.#nested(resource, async (part) => {
          const input = validator.validate(resource, "hookResult", body);
          const changes = (current: RowValues): RowValues =>
            validator.validateMerged(resource, patchedValues(resource, input, current));
          return (await part.update(resource, id, changes)).text;
        }),
      delete: (resource, id) =>
        this.#nested(resource, (part) => part.delete(resource, id), explainDeleteError),
    });
  }

  /** An operation of a hook: where it fails and the hook goes on, nothing of it remains. */
  async #nested<T>(
    resource: ResourceModel,
    work: (part: WriteTransaction) => Promise<T>,
    explain = explainNestedError,
  ): Promise<T> {
    try {
      return await retryOnCollision(resource, () =>
        this.#session.nested((part) =>
          work(
            new WriteTransaction(this.#dependencies, part, this.#caller, { now: this.#now, isByHook: true }),
          ),
        ),
      );
    } catch (error) {
      throw explain(error, resource);
    }
  }

  /** @param returnedOnce where members that a hook reveals are put */
  #context(returnedOnce: Record<string, unknown>): HookContext {
    const returnOnce: HookContext["returnOnce"] = (members) => void Object.assign(returnedOnce, members);
    return { caller: this.#caller, now: this.#now, rows: this.rows, returnOnce };
  }

  /** The row as it stands, locked until the transaction ends. */
  async #current(
    resource: ResourceModel,
    id: string,
    precondition: Precondition | undefined,
    lock: Lock = "update",
  ): Promise<Record<string, unknown>> {
    const text = await findLocked(this.#dependencies.store, this.#session, this.#caller, resource, id, lock);
    precondition?.(text);
    return JSON.parse(text);
  }

  async #requireParent({ parent, hooks }: ResourceModel, id = ""): Promise<void> {
    if (!parent) return;
    const { target } = parent.reference!;
    const { store } = this.#dependencies;
    if (!hooks.before?.create && !hooks.after?.create)
      return requireParentRow(store, this.#session, this.#caller, target, id);
    // Hooks may go on to write the parent: what is found here must still hold then.
    await findLocked(store, this.#session, this.#caller, target, id, "update");
  }

  /** What a hook gives keeps to the declaration as well; a fault there is one of the code, not of the caller. */
  #hookValues(resource: ResourceModel, result: RowValues | undefined): RowValues {
    if (result === undefined) return {};
    try {
      return hookValues(resource, this.#dependencies.validator.validate(resource, "hookResult", result));
    } catch (error) {
      const fault = new Error(`a hook of ${resource.name} gave faulty values: ${(error as Error).message}`);
      throw this.#dependencies.model.explainsFailures ? explainedFailure(fault.message, fault) : fault;
    }
  }

  async #requireReferences(shape: Shape, values: RowValues): Promise<void> {
    if (this.#isByHook) return;
    const { store } = this.#dependencies;
    await requireVisibleReferences(store, this.#session, this.#caller, shape, values);
  }

  /** What the row's own policy says of it; the row that it stands under was found visible, and stays the same. */
  #requirePolicy(resource: ResourceModel, row: RowValues): void {
    const conditions = ownPolicyConditions(this.#caller, resource);
    const current = conditions.map(({ attribute }) => [
      attribute.name,
      currentValue(attribute, row, this.#now),
    ]);
    if (satisfiesAll(conditions, Object.fromEntries(current))) return;
    throw new Problem("forbidden", `You are not allowed to write this ${resource.title}.`);
  }

  async #record(resource: ResourceModel, action: Event["action"], { id, text }: WriteResult): Promise<void> {
    if (!resource.recordsEvents) return;
    const { tenantId, credentialId } = this.#caller;
    const event = { tenantId, resource, action, rowId: id, row: text, credentialId, at: this.#now };
    await this.#dependencies.events.record(this.#session, event);
  }
}

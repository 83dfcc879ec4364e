// The operations - list, get, create, change (or replace), remove - and all that happens around them. Every
// door comes through here, so that authorisation, validation, hooks and events are in one place.

import type { Caller } from "../declare/caller.ts";
import type { Model, ResourceModel } from "../declare/model.ts";
import type { HookContext, Rows } from "../declare/resource.ts";
import { Problem } from "../errors.ts";
import { type Event, EventRecorder } from "../events/event.ts";
import { isId, newId } from "../plan/id.ts";
import type { Page } from "../plan/page.ts";
import type { Condition, Read, ReadOne } from "../plan/read.ts";
import { wholeRow } from "../plan/selection.ts";
import type { RowValues } from "../plan/write.ts";
import type { Session, Transaction } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { authorisedSelection, meets, policyConditions, requireScope } from "./authorise.ts";
import { explainInner, explainRemoval, explainWrite } from "./constraint.ts";
import { hookRows } from "./hook-rows.ts";
import {
  changedValues,
  givenValues,
  replacedValues,
  wholeValues,
  withDerivedDefaults,
  withSearched,
} from "./row-values.ts";
import { BodyValidator } from "./validate.ts";

/** A row that was written. */
export interface Written {
  readonly id: string;
  /** The row as JSON text. */
  readonly text: string;
}

/** Looks at a row as it stands before it is written, and throws where the caller expected another. */
export type Precondition = (text: string) => void;

export class Engine {
  readonly model: Model;
  readonly #store: Store;
  readonly #events: EventRecorder;
  readonly #validator: BodyValidator;

  constructor(model: Model, store: Store) {
    this.model = model;
    this.#store = store;
    this.#events = new EventRecorder(store);
    this.#validator = new BodyValidator(model);
  }

  /** A page of the rows that a caller may see. */
  async list(caller: Caller, read: Read): Promise<Page> {
    requireScope(caller, read.resource.scopes.read);
    const selection = authorisedSelection(caller, read.selection);
    const conditions = [...read.conditions, ...policyConditions(caller, read.resource)];
    const page = await this.#store.list(caller.tenantId, { ...read, selection, conditions });
    await this.#requireParent(caller, read, page);
    return page;
  }

  /** A row as JSON text. @throws Problem `not_found` */
  async get(caller: Caller, read: ReadOne): Promise<string> {
    requireScope(caller, read.resource.scopes.read);
    const selection = authorisedSelection(caller, read.selection);
    const conditions = policyConditions(caller, read.resource);
    const text = isId(read.id)
      ? await this.#store.get(caller.tenantId, { ...read, selection, conditions })
      : undefined;
    return text ?? notFound(read.resource);
  }

  /** Adds a row, below `parentId` where its resource stands under another. */
  async create(caller: Caller, resource: ResourceModel, body: unknown, parentId?: string): Promise<Written> {
    requireScope(caller, resource.scopes.write);
    const input = this.#wholeBody(resource, "create", body);
    return this.#writing(caller, resource, (session, attempted) =>
      this.#insert(session, caller, resource, input, parentId, attempted),
    );
  }

  /** Puts a whole new body in the place of a row's; what it leaves out is reset. */
  async replace(
    caller: Caller,
    resource: ResourceModel,
    id: string,
    body: unknown,
    precondition?: Precondition,
  ): Promise<Written> {
    requireScope(caller, resource.scopes.write);
    const input = this.#wholeBody(resource, "replace", body);
    const values = (_current: RowValues, now: string): RowValues =>
      replacedValues(resource, input, caller, now);
    return this.#writing(caller, resource, (session, attempted) =>
      this.#update(session, caller, resource, id, values, attempted, precondition),
    );
  }

  /** Changes the fields that the body names. */
  async change(
    caller: Caller,
    resource: ResourceModel,
    id: string,
    body: unknown,
    precondition?: Precondition,
  ): Promise<Written> {
    requireScope(caller, resource.scopes.write);
    const input = this.#validator.check(resource, "change", body);
    const values = (current: RowValues): RowValues => changedValues(resource, input, current);
    return this.#writing(caller, resource, (session, attempted) =>
      this.#update(session, caller, resource, id, values, attempted, precondition),
    );
  }

  /** Removes a row and everything under it. */
  async remove(
    caller: Caller,
    resource: ResourceModel,
    id: string,
    precondition?: Precondition,
  ): Promise<void> {
    requireScope(caller, resource.scopes.write);
    try {
      await this.#store.transaction((session) => this.#delete(session, caller, resource, id, precondition));
    } catch (error) {
      throw explainRemoval(error, resource);
    }
  }

  /** Several operations in one transaction: all of them happen, or none. Scopes are not asked for. */
  async together<T>(caller: Caller, work: (rows: Rows, session: Transaction) => Promise<T>): Promise<T> {
    return this.#store.transaction((session) => work(this.rowsWithin(session, caller), session));
  }

  /** The operations of a transaction that is under way, on behalf of a caller. Scopes are not asked for. */
  rowsWithin(session: Transaction, caller: Caller): Rows {
    return this.#context(session, caller, new Date().toISOString()).rows;
  }

  #wholeBody(resource: ResourceModel, operation: "create" | "replace", body: unknown): RowValues {
    const input = this.#validator.check(resource, operation, body);
    const filled = withDerivedDefaults(resource, input);
    return filled ? this.#validator.check(resource, operation, filled) : input;
  }

  async #writing(
    caller: Caller,
    resource: ResourceModel,
    work: (session: Transaction, attempted: Attempt) => Promise<Written>,
  ): Promise<Written> {
    const attempted: Attempt = { values: {} };
    try {
      return await this.#store.transaction((session) => work(session, attempted));
    } catch (error) {
      throw await explainWrite(error, this.#store, resource, caller.tenantId, attempted.values);
    }
  }

  async #insert(
    session: Transaction,
    caller: Caller,
    resource: ResourceModel,
    input: RowValues,
    parentId: string | undefined,
    attempted: Attempt,
  ): Promise<Written> {
    const now = new Date().toISOString();
    const context = this.#context(session, caller, now);
    const { parent, hooks, idPrefix } = resource;
    // Hooks may go on to write the parent. Locked before the insert locks it more weakly, two such inserts wait
    // for one another's end and not for each other.
    const isLocked = hooks.before?.create !== undefined || hooks.after?.create !== undefined;
    if (parent) await this.#requireParentRow(session, caller, parent.reference!.target, parentId, isLocked);
    const values = wholeValues(resource, input, caller, now);
    const hooked = this.#hookedValues(resource, await hooks.before?.create?.(values, context));
    const id = newId(idPrefix);
    const row = {
      ...values,
      ...hooked,
      ...(parent && { [parent.name]: parentId }),
      id,
      createdAt: now,
      updatedAt: now,
    };
    this.#requirePolicy(caller, resource, row);
    attempted.values = row;
    const text = await this.#store.insert(session, { resource, tenantId: caller.tenantId, values: row });
    await this.#record(session, caller, resource, "created", { id, text }, now);
    await hooks.after?.create?.(JSON.parse(text), context);
    return { id, text };
  }

  async #update(
    session: Transaction,
    caller: Caller,
    resource: ResourceModel,
    id: string,
    changesTo: (current: RowValues, now: string) => RowValues,
    attempted: Attempt,
    precondition: Precondition | undefined,
  ): Promise<Written> {
    const now = new Date().toISOString();
    const context = this.#context(session, caller, now);
    const { hooks } = resource;
    const current = await this.#current(session, caller, resource, id, precondition);
    const changes = { ...changesTo(current, now) };
    const hooked = this.#hookedValues(
      resource,
      await hooks.before?.change?.(changes, { ...context, current }),
    );
    const values = { ...changes, ...hooked, updatedAt: now };
    const row = { ...current, ...values };
    this.#requirePolicy(caller, resource, row);
    attempted.values = row;
    const { tenantId } = caller;
    const update = { resource, tenantId, id, values: withSearched(resource, values, row) };
    const text = (await this.#store.update(session, update)) ?? notFound(resource);
    await this.#record(session, caller, resource, "changed", { id, text }, now);
    await hooks.after?.change?.(JSON.parse(text), { ...context, previous: current });
    return { id, text };
  }

  async #delete(
    session: Transaction,
    caller: Caller,
    resource: ResourceModel,
    id: string,
    precondition: Precondition | undefined,
  ): Promise<void> {
    const now = new Date().toISOString();
    const context = this.#context(session, caller, now);
    const current = await this.#current(session, caller, resource, id, precondition);
    await resource.hooks.before?.remove?.({ ...context, current });
    const text = await this.#store.delete(session, { resource, tenantId: caller.tenantId, id });
    await this.#record(session, caller, resource, "removed", { id, text: text ?? notFound(resource) }, now);
    await resource.hooks.after?.remove?.(current, context);
  }

  /** What a hook gives keeps to the declaration as well; a fault there is one of the code, not of the caller. */
  #hookedValues(resource: ResourceModel, given: RowValues | undefined): RowValues {
    if (given === undefined) return {};
    try {
      return givenValues(resource, this.#validator.check(resource, "hooked", given));
    } catch (error) {
      throw new Error(`a hook of ${resource.name} gave faulty values: ${(error as Error).message}`);
    }
  }

  /** The row as it stands, locked until the transaction ends. */
  async #current(
    session: Session,
    caller: Caller,
    resource: ResourceModel,
    id: string,
    precondition?: Precondition,
  ): Promise<Record<string, unknown>> {
    if (!isId(id)) notFound(resource);
    const conditions = policyConditions(caller, resource);
    const read = { resource, selection: wholeRow(resource), id, conditions };
    const text = (await this.#store.getLocked(caller.tenantId, read, session)) ?? notFound(resource);
    precondition?.(text);
    return JSON.parse(text);
  }

  #context(session: Transaction, caller: Caller, now: string): HookContext {
    return {
      caller,
      now,
      rows: hookRows(this.model, {
        get: (resource, id) => this.#rowOrNothing(session, caller, resource, id),
        create: (resource, body, parentId) =>
          innerOperation(session, resource, async (part) => {
            const input = this.#wholeBody(resource, "create", body);
            return (await this.#insert(part, caller, resource, input, parentId, { values: {} })).text;
          }),
        change: (resource, id, body) =>
          innerOperation(session, resource, async (part) => {
            const input = this.#validator.check(resource, "change", body);
            const values = (current: RowValues): RowValues => changedValues(resource, input, current);
            return (await this.#update(part, caller, resource, id, values, { values: {} }, undefined)).text;
          }),
        remove: (resource, id) =>
          innerOperation(
            session,
            resource,
            (part) => this.#delete(part, caller, resource, id, undefined),
            explainRemoval,
          ),
      }),
    };
  }

  async #rowOrNothing(
    session: Session,
    caller: Caller,
    resource: ResourceModel,
    id: string,
  ): Promise<string | undefined> {
    const read = { resource, selection: wholeRow(resource), id, conditions: [] };
    // A hook decides by what it reads, so that must still hold when it writes.
    return this.#store.getLocked(caller.tenantId, read, session);
  }

  #requirePolicy(caller: Caller, resource: ResourceModel, row: RowValues): void {
    if (meets(policyConditions(caller, resource), row)) return;
    throw new Problem("forbidden", `The credential may not write such a ${resource.name}.`);
  }

  /** A list below a row that the caller cannot see is not an empty list but nothing at all. */
  async #requireParent(caller: Caller, read: Read, page: Page): Promise<void> {
    const { parent } = read.resource;
    if (!parent) return;
    const { target } = parent.reference!;
    if (page.count > 0 && !target.policy) return;
    const condition = read.conditions.find(({ attribute }) => attribute === parent);
    await this.#requireParentRow(this.#store.database, caller, target, String(condition?.values[0]));
  }

  async #requireParentRow(
    session: Session,
    caller: Caller,
    parent: ResourceModel,
    id: string | undefined,
    isLocked = false,
  ): Promise<void> {
    const conditions: readonly Condition[] = policyConditions(caller, parent);
    const read = { resource: parent, selection: wholeRow(parent), id: id ?? "", conditions };
    if (!isId(read.id)) notFound(parent);
    const row = isLocked
      ? await this.#store.getLocked(caller.tenantId, read, session)
      : await this.#store.get(caller.tenantId, read, session);
    if (row === undefined) notFound(parent);
  }

  async #record(
    session: Session,
    caller: Caller,
    resource: ResourceModel,
    action: Event["action"],
    { id, text }: Written,
    at: string,
  ): Promise<void> {
    const { tenantId, credentialId } = caller;
    await this.#events.record(session, {
      tenantId,
      resource,
      action,
      rowId: id,
      row: text,
      credentialId,
      at,
    });
  }
}

/** The row that was to be written, for the explanation of a broken constraint. */
interface Attempt {
  values: RowValues;
}

/** An operation of a hook: where it fails and the hook goes on, nothing of it remains. */
async function innerOperation<T>(
  session: Transaction,
  resource: ResourceModel,
  work: (part: Transaction) => Promise<T>,
  explain = explainInner,
): Promise<T> {
  try {
    return await session.nested(work);
  } catch (error) {
    throw explain(error, resource);
  }
}

function notFound(resource: ResourceModel): never {
  throw new Problem("not_found", `There is no ${resource.name} with this id.`);
}

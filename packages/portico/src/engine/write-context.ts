// What the writes of one transaction on behalf of one caller share: locked rows, hooks, files and events. Every kind of
// write uses the same object, so the file is longer than most.

import type { OwnHookContext } from "../auth/own-hook-context.ts";
import type { Caller } from "../declare/caller.ts";
import type { HookContext } from "../declare/hooks.ts";
import { renameHint } from "../declare/renamed-options.ts";
import type { Rows } from "../declare/rows.ts";
import { type EventRecorder, newEventId } from "../events/event.ts";
import type { RowFiles } from "../files/row-files.ts";
import { codeFailure } from "../model/explained-failures.ts";
import type { Model, ResourceModel } from "../model/model.ts";
import type { Condition } from "../query/condition.ts";
import { wholeRow } from "../query/selection.ts";
import type { EventAction, EventDetails, RowValues } from "../query/write.ts";
import type { Transaction } from "../store/database.ts";
import type { Lock } from "../store/dialect.ts";
import type { RunRecorded } from "../store/row-writes.ts";
import type { Store } from "../store/store.ts";
import { findLocked, throwNotFound } from "./find-row.ts";
import { policyConditions } from "./policy.ts";
import { parseStored, shownText } from "./stored-row.ts";
import type { BodyValidator } from "./validation/body-validator.ts";
import { InvalidInput } from "./validation/invalid-input.ts";
import { missingReference } from "./validation/messages.ts";

/** What all transactions share. */
export interface WriteDependencies {
  readonly model: Model;
  readonly store: Store;
  readonly events: EventRecorder;
  readonly validator: BodyValidator;
  readonly files: RowFiles;
}

/** Checks a row before it is written, and throws if the caller expected another. */
export type Precondition = (text: string) => void;

export interface WriteOptions {
  /** The timestamp of everything that is written together. */
  readonly now?: string;
  /** Whether a hook writes, to which no policies apply: it may refer to rows that the caller does not see. */
  readonly isByHook?: boolean;
  /** Whether the transaction ends with this write. */
  readonly isLast?: boolean;
}

/** A row that nobody else changes until the transaction ends. */
export type LockedRow = Record<string, unknown> & { readonly id: string };

const none: readonly never[] = Object.freeze([]);

export class WriteContext {
  readonly model: Model;
  readonly store: Store;
  readonly validator: BodyValidator;
  readonly session: Transaction;
  readonly caller: Caller;
  readonly now: string;
  readonly isByHook: boolean;
  readonly isLast: boolean;
  readonly #events: EventRecorder;
  readonly #files: RowFiles;

  constructor(
    { model, store, events, validator, files }: WriteDependencies,
    session: Transaction,
    caller: Caller,
    { now = new Date().toISOString(), isByHook = false, isLast = false }: WriteOptions,
  ) {
    this.model = model;
    this.store = store;
    this.validator = validator;
    this.session = session;
    this.caller = caller;
    this.now = now;
    this.isByHook = isByHook;
    this.isLast = isLast;
    this.#events = events;
    this.#files = files;
  }

  /** The row, locked until the transaction ends. @throws Problem `not_found` */
  async lockedRow(
    resource: ResourceModel,
    id: string,
    precondition: Precondition | undefined,
    lock: Lock = "update",
  ): Promise<LockedRow> {
    const conditions = this.conditionsOf(resource);
    const text = await findLocked(this.store, this.session, this.caller, resource, id, lock, conditions);
    precondition?.(shownText(text));
    // Every row has an id.
    return parseStored(text) as LockedRow;
  }

  /** The conditions on rows that are found: the policies of the caller, which do not apply to hooks. */
  conditionsOf(resource: ResourceModel): readonly Condition[] {
    return this.isByHook ? [] : policyConditions(this.caller, resource);
  }

  /** The row after its hook, which may have written it again. */
  async reread(resource: ResourceModel, id: string, text: string): Promise<string> {
    const read = { resource, selection: wholeRow(resource), id, conditions: [] };
    return (await this.store.get(this.caller.tenantId, read, this.session)) ?? text;
  }

  /** The values of a row with the files that they name. @throws InvalidInput for a file that the caller has not uploaded */
  async attachFiles<V extends RowValues>(
    resource: ResourceModel,
    values: V,
    current: RowValues = {},
  ): Promise<V> {
    if (resource.files.length === 0) return values;
    return this.#files.attach(this.session, this.caller, resource, values, current, (field) => {
      throw new InvalidInput([missingReference(field)]);
    });
  }

  /** Gives up the files of a row that it has no longer after a write. @param next empty if the row is deleted */
  async releaseFiles(resource: ResourceModel, previous: RowValues, next: RowValues = {}): Promise<void> {
    if (resource.files.length > 0) await this.#files.release(this.session, resource, previous, next);
  }

  /** @param returnedOnce receives the members that hooks return once */
  hookContext(rows: Rows, returnedOnce: Record<string, unknown>): HookContext {
    const returnOnce: HookContext["returnOnce"] = (members) => void Object.assign(returnedOnce, members);
    const context: OwnHookContext & { readonly reveal: () => never } = {
      caller: this.caller,
      now: this.now,
      model: this.model,
      query: (definition, input) => definition(this.store).all(this.session, input),
      rows,
      returnOnce,
      reveal: () => this.#refuseReveal(),
    };
    return context;
  }

  /** The old name of `returnOnce`, which is not declared. */
  #refuseReveal(): never {
    throw codeFailure(this.model, renameHint("hookContext", "reveal")!);
  }

  /**
   * Inserts a row and records the event, with one statement if the database is remote.
   *
   * @param isLast whether no statement of the transaction follows, as in the two operations below
   * @returns the row as JSON text
   */
  async insert(
    resource: ResourceModel,
    row: RowValues & { readonly id: string },
    isLast: boolean,
  ): Promise<string> {
    const { store, session, caller } = this;
    const insert = { resource, tenantId: caller.tenantId, values: row };
    const recorded = this.#recorded(resource, isLast);
    if (recorded) return store.writes.insertRecorded(recorded, { ...insert, event: this.#event });
    const text = await store.writes.insert(session, insert);
    await this.#record(resource, "created", row.id, text);
    return text;
  }

  /** The same for an update of a locked row. @param action of its event @throws Problem `not_found` */
  async update(
    resource: ResourceModel,
    id: string,
    values: RowValues,
    action: EventAction,
    isLast: boolean,
  ): Promise<string> {
    const { store, session, caller } = this;
    const update = { resource, tenantId: caller.tenantId, id, values };
    const recorded = this.#recorded(resource, isLast);
    if (recorded) {
      const text = await store.writes.updateRecorded(recorded, { ...update, event: this.#event }, action);
      return text ?? throwNotFound(resource);
    }
    const text = (await store.writes.update(session, update)) ?? throwNotFound(resource);
    await this.#record(resource, action, id, text);
    return text;
  }

  /**
   * The same for a delete of a locked row.
   *
   * @param isTogether whether other rows are deleted with it
   * @param isKept whether it can be restored, with its files
   * @returns its last JSON text
   * @throws Problem `not_found`
   */
  async delete(
    resource: ResourceModel,
    id: string,
    {
      isLast,
      isTogether,
      isKept,
    }: { readonly isLast: boolean; readonly isTogether: boolean; readonly isKept: boolean },
  ): Promise<string> {
    const hasFiles = !isKept && resource.files.length > 0;
    const text = await this.#delete(resource, id, { isLast: isLast && !hasFiles, isTogether });
    if (hasFiles) await this.releaseFiles(resource, JSON.parse(text));
    return text;
  }

  async #delete(
    resource: ResourceModel,
    id: string,
    { isLast, isTogether }: { readonly isLast: boolean; readonly isTogether: boolean },
  ): Promise<string> {
    const { store, session, caller } = this;
    const deletion = { resource, tenantId: caller.tenantId, id };
    const recorded = isTogether ? undefined : this.#recorded(resource, isLast);
    if (recorded) {
      const text = await store.writes.deleteRecorded(recorded, {
        ...deletion,
        event: this.#event,
      });
      return text ?? throwNotFound(resource);
    }
    const text = (await store.writes.delete(session, deletion)) ?? throwNotFound(resource);
    if (isTogether) await this.recordDeleted(resource, new Map([[id, text]]), none);
    else await this.#record(resource, "deleted", id, text);
    return text;
  }

  /** How a write runs that records its event; undefined if the event needs a statement of its own, or there is none. */
  #recorded({ recordsEvents }: ResourceModel, isLast: boolean): RunRecorded | undefined {
    const { insertion: eventInsertion } = this.#events;
    if (!eventInsertion || !recordsEvents) return undefined;
    return { session: this.session, eventInsertion, isLast: isLast && this.isLast };
  }

  get #event(): EventDetails {
    return { id: newEventId(), credentialId: this.caller.credentialId, at: this.now };
  }

  /** Records the event of a write, if the resource records events. */
  async #record(resource: ResourceModel, action: EventAction, rowId: string, text: string): Promise<void> {
    if (!resource.recordsEvents) return;
    const { tenantId, credentialId } = this.caller;
    const event = { tenantId, resource, action, rowId, row: text, credentialId, at: this.now };
    await this.#events.record(this.session, event);
  }

  /** Records the events of rows that were updated together, or restored. @param rows their texts by id */
  async recordUpdated(resource: ResourceModel, rows: ReadonlyMap<string, string>): Promise<void> {
    if (!resource.recordsEvents || rows.size === 0) return;
    const { tenantId, credentialId } = this.caller;
    const events = { tenantId, resource, action: "updated", rows, credentialId, at: this.now } as const;
    await this.#events.recordMany(this.session, events);
  }

  /**
   * Records the events of rows that were deleted with others.
   * @param rows their texts by id
   * @param deletedParents what policies may read of their parents that were deleted too
   */
  async recordDeleted(
    resource: ResourceModel,
    rows: ReadonlyMap<string, string>,
    deletedParents: readonly RowValues[],
  ): Promise<void> {
    if (!resource.recordsEvents || rows.size === 0) return;
    const { tenantId, credentialId } = this.caller;
    await this.#events.recordMany(this.session, {
      ...{ tenantId, resource, action: "deleted", rows, credentialId, at: this.now, deletedParents },
    });
  }
}

// The operations on rows, with authorization, validation, hooks and events. Every protocol calls them.

import { randomUUID } from "node:crypto";
import { keepTenant } from "../auth/tenants/existing-tenant.ts";
import type { Caller } from "../declare/caller.ts";
import type { Rows } from "../declare/rows.ts";
import { Problem } from "../errors.ts";
import { DeletedTogether } from "../events/deleted-together.ts";
import { EventRecorder } from "../events/event.ts";
import { RowFiles } from "../files/row-files.ts";
import { isId } from "../lib/id.ts";
import type { Model, RequestShape, ResourceModel, Shape } from "../model/model.ts";
import type { Condition } from "../query/condition.ts";
import { CursorCodec } from "../query/cursor.ts";
import type { ListRequest, ReadOne } from "../query/read.ts";
import type { RowValues } from "../query/write.ts";
import type { Session, Transaction } from "../store/database.ts";
import type { RowStream } from "../store/row-stream.ts";
import type { Store } from "../store/store.ts";
import { requireRead, withPolicies } from "./authorize.ts";
import type { TrackResult } from "./awaited-rows.ts";
import { isProvenByRow, requireContainer, requireContainerId } from "./containers.ts";
import { throwNotFound } from "./find-row.ts";
import { JointWritesQueue } from "./joint-writes-queue.ts";
import { changeableUserOf, type Me, readMe, requireOwnFields } from "./me.ts";
import { Page, RequestedList } from "./page.ts";
import { readRows } from "./read-rows.ts";
import { RecordedWrites } from "./recorded-writes.ts";
import { invalidReferences } from "./references.ts";
import { type StreamRequest, streamRows } from "./row-stream.ts";
import { BodyValidator } from "./validation/body-validator.ts";
import { InvalidInput } from "./validation/invalid-input.ts";
import { insertValues } from "./validation/row-values.ts";
import { areVisible, type EventRow } from "./visible-rows.ts";
import type { WriteDependencies } from "./write-context.ts";
import { withoutSavepoints } from "./write-scope.ts";
import { WriteTransaction } from "./write-transaction.ts";
import { Writes } from "./writes.ts";

/** Each of its writes is a transaction of its own, unless it runs in `writeTogether`. */
export class Engine extends Writes {
  readonly model: Model;
  readonly #store: Store;
  readonly #dependencies: WriteDependencies;
  readonly #jointWrites = new JointWritesQueue();
  readonly #cursors: CursorCodec;
  readonly #deletedTogether: DeletedTogether;

  /** @param cursors the codec of a server; without one, cursors are valid for this engine only */
  constructor(model: Model, store: Store, cursors: CursorCodec = new CursorCodec([randomUUID()])) {
    const validator = new BodyValidator(model);
    const files = new RowFiles(store);
    const dependencies = { model, store, events: new EventRecorder(store), validator, files };
    super(dependencies, {
      session: store.database,
      transaction: undefined,
      run: (work, options) => store.transaction(work, options),
    });
    this.model = model;
    this.#store = store;
    this.#cursors = cursors;
    this.#deletedTogether = new DeletedTogether(store);
    this.#dependencies = dependencies;
  }

  /**
   * A page of the rows that the caller may see. A list within a row that the caller may not see is not found.
   * @throws Problem `insufficient_scope`, `invalid_cursor`, `not_found`
   */
  async list(caller: Caller, request: ListRequest): Promise<Page> {
    const { resource, within, page } = request;
    requireRead(caller, resource.access.list);
    const list = new RequestedList(caller.tenantId, request, this.#cursors);
    const read = withPolicies(caller, list.read());
    if (within) requireContainerId(within);
    // Mostly there are rows, and they prove what would take another statement.
    const isCheckedLater = within && isProvenByRow(resource, within);
    if (within && !isCheckedLater) await requireContainer(this.#store, caller, within);
    const stored = await this.#store.list(caller.tenantId, read);
    if (isCheckedLater && stored.count === 0) await requireContainer(this.#store, caller, within);
    return new Page(stored, page, list);
  }

  /**
   * The rows that the caller may see, all of one moment, however many they are.
   * @throws Problem `insufficient_scope`, `validation_error` for an `after` that the caller does not see
   */
  stream(caller: Caller, request: StreamRequest): Promise<RowStream> {
    return streamRows(this.#store, caller, request);
  }

  /** A row as JSON text. @throws Problem `insufficient_scope`, `not_found` */
  async get(caller: Caller, read: ReadOne): Promise<string> {
    requireRead(caller, read.resource.access.get);
    const allowed = withPolicies(caller, read);
    const text = isId(read.id) ? await this.#store.get(caller.tenantId, allowed) : undefined;
    return text ?? throwNotFound(read.resource);
  }

  /** Who the caller is. Requires no scope. */
  me(caller: Caller): Promise<Me> {
    return readMe(this.#store, this.#users, caller, this.#store.database);
  }

  /**
   * Updates the fields of the caller's user that users change themselves, whatever the role: the name, the address and
   * those that the app declares so. A new address is pending until it is confirmed.
   *
   * @param within the writes of a transaction and its session; by default the update is a transaction of its own
   * @throws Problem `forbidden` for a caller without a user, `insufficient_scope` for an application that may not see
   *   the user's profile
   */
  async updateMe(
    caller: Caller,
    body: unknown,
    within: { readonly writes: Writes; readonly session: Session } = {
      writes: this,
      session: this.#store.database,
    },
  ): Promise<Me> {
    const userId = changeableUserOf(caller);
    const users = this.#users;
    requireOwnFields(body, users.attribute, this.model.selfEditable);
    // The caller keeps its scopes: policies decide by them which rows it may refer to.
    await within.writes.updateAllowed({ ...caller, isDelegated: true }, users, userId, body);
    return readMe(this.#store, users, caller, within.session);
  }

  get #users(): ResourceModel {
    return this.model.resource.get("user")!;
  }

  /** Whether the caller may see each of the rows, which come from events, and whether they meet the conditions. */
  areVisible(
    caller: Caller,
    resource: ResourceModel,
    rows: readonly EventRow[],
    conditions: readonly Condition[] = [],
  ): Promise<readonly boolean[]> {
    const sources = { store: this.#store, deletedTogether: this.#deletedTogether, tenantId: caller.tenantId };
    return areVisible(sources, caller, resource, rows, conditions);
  }

  /**
   * Runs several writes of a tenant in one transaction: all of them or none. Each sees the earlier ones. If the transaction
   * conflicts with a concurrent one, `work` runs again.
   *
   * @throws Problem `rate_limited`, `unavailable` if too many others are waiting
   */
  writeTogether<T>(caller: Caller, work: (writes: Writes) => Promise<T>): Promise<T> {
    return this.writeAtomically(caller, work, { isJoint: true });
  }

  /**
   * Runs writes in one transaction. One that throws is undone separately, so that `work` may catch its error. If the
   * transaction conflicts with a concurrent one, `work` runs again.
   *
   * @param work gets the writes, which know the rows that they have written, and the transaction
   * @throws Problem `rate_limited`, `unavailable` if too many others are waiting
   */
  writeAtomically<T>(
    caller: Caller,
    work: (writes: RecordedWrites, transaction: Transaction) => Promise<T>,
    { isJoint = false }: { readonly isJoint?: boolean } = {},
  ): Promise<T> {
    const run = (): Promise<T> =>
      this.#store.transaction(
        (transaction) => work(new RecordedWrites(this.#dependencies, transaction), transaction),
        { tenantId: caller.tenantId },
      );
    return isJoint && this.#store.database.isRemote ? this.#jointWrites.run(caller, run) : run();
  }

  /**
   * `writeTogether` without a savepoint for each write, which makes many writes quicker. Nothing remains if one of them
   * fails, so `work` must not catch its error.
   *
   * @throws FailedWrite if a write fails after it has begun; one whose input is refused before throws as usual
   */
  writeWithoutSavepoints<T>(caller: Caller, work: (writes: Writes) => Promise<T>): Promise<T> {
    const run = (): Promise<T> =>
      this.#store.transaction(
        (transaction) => work(new Writes(this.#dependencies, withoutSavepoints(transaction))),
        { tenantId: caller.tenantId, isAlone: true },
      );
    return this.#store.database.isRemote ? this.#jointWrites.run(caller, run) : run();
  }

  /**
   * Validates values of a request that belong to no resource, such as the input of a route, and adds their defaults.
   * @throws InvalidInput
   */
  validated(shape: RequestShape, body: unknown, caller: Caller, now: string): RowValues {
    const valid = this.#dependencies.validator.validateInput(shape, body);
    return insertValues(shape.attributes, valid, caller, now);
  }

  /**
   * Checks the references in values that are not stored.
   * @throws InvalidInput for those to rows that the caller does not see
   */
  async requireReferences(caller: Caller, { references }: Shape, values: RowValues): Promise<void> {
    const { database } = this.#store;
    const invalid = await invalidReferences(this.#store, database, caller, references, values);
    if (invalid.length > 0) throw new InvalidInput(invalid);
  }

  /** The operations on rows for code that only reads, restricted by the policies of the caller. */
  readRows(caller: Caller, requireOpen: () => void, track: TrackResult): Rows {
    return readRows(this.model, this.#store, caller, requireOpen, track);
  }

  /**
   * Runs several operations in one transaction, without checking scopes.
   * @throws Problem `not_found` if the tenant was deleted
   */
  async inTransaction<T>(caller: Caller, work: (rows: Rows, session: Transaction) => Promise<T>): Promise<T> {
    return this.#store.transaction(async (session) => {
      if (!(await keepTenant(this.#store).first(session, { id: caller.tenantId })))
        throw new Problem("not_found", "The tenant was deleted.");
      return work(this.rowsIn(session, caller), session);
    });
  }

  /** The operations on rows within a transaction, on behalf of a caller, without checking scopes. */
  rowsIn(session: Transaction, caller: Caller): Rows {
    return new WriteTransaction(this.#dependencies, session, caller).rows;
  }
}

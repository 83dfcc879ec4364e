// The operations on rows, with authorization, validation, hooks and events. Every protocol calls them.

import { randomUUID } from "node:crypto";
import type { Caller } from "../declare/caller.ts";
import type { Rows } from "../declare/resource.ts";
import { EventRecorder } from "../events/event.ts";
import { isId } from "../lib/id.ts";
import type { ActionModel, Model, ResourceModel } from "../model/model.ts";
import { CursorCodec } from "../query/cursor.ts";
import type { Container, ListRequest, ReadOne } from "../query/read.ts";
import type { RowValues } from "../query/write.ts";
import type { Transaction } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { requireScope, withPolicies } from "./authorize.ts";
import { explainDeleteError, explainWriteError, retryOnCollision } from "./constraint.ts";
import { containerConditions, isProvenByRow, requireContainer, requireContainerId } from "./containers.ts";
import { throwNotFound } from "./find-row.ts";
import { Page, RequestedList } from "./page.ts";
import { policyConditions } from "./policy.ts";
import { invalidBodyReferences } from "./references.ts";
import { BodyValidator } from "./validation/body-validator.ts";
import { InvalidInput, validMembers } from "./validation/invalid-input.ts";
import { patchedValues, replacementValues } from "./validation/row-values.ts";
import { areVisible } from "./visible-rows.ts";
import type { Precondition, WriteDependencies } from "./write-context.ts";
import type { WriteResult } from "./write-result.ts";
import { WriteTransaction } from "./write-transaction.ts";

export class Engine {
  readonly model: Model;
  readonly #store: Store;
  readonly #validator: BodyValidator;
  readonly #dependencies: WriteDependencies;
  readonly #cursors: CursorCodec;

  /** @param cursors the codec of a server; without one, cursors are valid for this engine only */
  constructor(model: Model, store: Store, cursors: CursorCodec = new CursorCodec([randomUUID()])) {
    this.model = model;
    this.#store = store;
    this.#cursors = cursors;
    this.#validator = new BodyValidator(model);
    this.#dependencies = { model, store, events: new EventRecorder(store), validator: this.#validator };
  }

  /**
   * A page of the rows that the caller may see. A list within a row that the caller may not see is not found.
   * @throws Problem `insufficient_scope`, `invalid_cursor`, `not_found`
   */
  async list(caller: Caller, request: ListRequest): Promise<Page> {
    const { resource, within, page } = request;
    requireScope(caller, resource.scopes.read);
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

  /** A row as JSON text. @throws Problem `not_found` */
  get(caller: Caller, read: ReadOne): Promise<string> {
    return this.#get(caller, read, read.resource.scopes.read);
  }

  /** The row after a write of the same caller, who needs no scope to read it. */
  getAfterWrite(caller: Caller, read: ReadOne): Promise<string> {
    return this.#get(caller, read, undefined);
  }

  async #get(caller: Caller, read: ReadOne, scope: string | undefined): Promise<string> {
    if (scope !== undefined) requireScope(caller, scope);
    const allowed = withPolicies(caller, read);
    const text = isId(read.id) ? await this.#store.get(caller.tenantId, allowed) : undefined;
    return text ?? throwNotFound(read.resource);
  }

  /** Whether the caller may see each of the rows, which come from events. */
  areVisible(
    caller: Caller,
    resource: ResourceModel,
    rows: readonly RowValues[],
  ): Promise<readonly boolean[]> {
    return areVisible(this.#store, caller, resource, rows);
  }

  /**
   * Adds a row.
   * @param parentId for a resource with a parent
   */
  async create(
    caller: Caller,
    resource: ResourceModel,
    body: unknown,
    parentId?: string,
  ): Promise<WriteResult> {
    requireScope(caller, resource.scopes.write);
    const input = await this.#validated(caller, resource, undefined, body, () =>
      this.#validator.validateWhole(resource, "create", body),
    );
    return this.#write(caller, resource, (writing) => writing.insert(resource, input, parentId));
  }

  /** Replaces the fields of a row. Fields that the body omits get their defaults. */
  async replace(
    caller: Caller,
    resource: ResourceModel,
    id: string,
    body: unknown,
    precondition?: Precondition,
  ): Promise<WriteResult> {
    requireScope(caller, resource.scopes.write);
    const input = await this.#validated(caller, resource, id, body, () =>
      this.#validator.validateWhole(resource, "replace", body),
    );
    return this.#write(caller, resource, (writing) =>
      writing.update(resource, id, (_, now) => replacementValues(resource, input, caller, now), precondition),
    );
  }

  /** Updates the fields that the body names. */
  async update(
    caller: Caller,
    resource: ResourceModel,
    id: string,
    body: unknown,
    precondition?: Precondition,
  ): Promise<WriteResult> {
    requireScope(caller, resource.scopes.write);
    const input = await this.#validated(caller, resource, id, body, () =>
      this.#validator.validate(resource, "update", body),
    );
    return this.#write(caller, resource, (writing) =>
      writing.update(
        resource,
        id,
        (current) => this.#validator.validateMerged(resource, patchedValues(resource, input, current)),
        precondition,
      ),
    );
  }

  /** Deletes a row and its dependents, or marks them as deleted. */
  async delete(
    caller: Caller,
    resource: ResourceModel,
    id: string,
    precondition?: Precondition,
  ): Promise<void> {
    requireScope(caller, resource.scopes.write);
    await this.#delete(caller, resource, (writing) => writing.delete(resource, id, precondition));
  }

  /** Deletes all rows of a nested collection. */
  async deleteAll(caller: Caller, resource: ResourceModel, container: Container): Promise<void> {
    requireScope(caller, resource.scopes.write);
    await requireContainer(this.#store, caller, container);
    const conditions = [...containerConditions(container), ...policyConditions(caller, resource)];
    await this.#delete(caller, resource, (writing) => writing.deleteAll(resource, conditions));
  }

  /** Runs an action on a row. The result is a row, too. */
  async runAction(
    caller: Caller,
    resource: ResourceModel,
    id: string,
    action: ActionModel,
    body: unknown,
  ): Promise<WriteResult> {
    requireScope(caller, resource.scopes.write);
    const input = this.#validator.validateAction(action, body);
    return this.#write(caller, resource, (writing) => writing.runAction(resource, id, action, input));
  }

  /** Runs several operations in one transaction, without checking scopes. */
  async inTransaction<T>(caller: Caller, work: (rows: Rows, session: Transaction) => Promise<T>): Promise<T> {
    return this.#store.transaction((session) => work(this.rowsIn(session, caller), session));
  }

  /** The operations on rows within a transaction, on behalf of a caller, without checking scopes. */
  rowsIn(session: Transaction, caller: Caller): Rows {
    return new WriteTransaction(this.#dependencies, session, caller).rows;
  }

  /**
   * Validates a body. If it has errors, references that do not exist are reported with them; otherwise the write
   * detects them.
   * @param id the row that is updated
   * @throws InvalidInput
   */
  async #validated<T>(
    caller: Caller,
    resource: ResourceModel,
    id: string | undefined,
    body: unknown,
    validate: () => T,
  ): Promise<T> {
    try {
      return validate();
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      const values = validMembers(body, error.errors);
      const invalid = await invalidBodyReferences(this.#store, caller, resource, id, values);
      throw invalid.length > 0 ? new InvalidInput([...error.errors, ...invalid]) : error;
    }
  }

  async #write(
    caller: Caller,
    resource: ResourceModel,
    work: (transaction: WriteTransaction) => Promise<WriteResult>,
  ): Promise<WriteResult> {
    let transaction: WriteTransaction | undefined;
    try {
      return await retryOnCollision(resource, () =>
        this.#store.transaction((session) => {
          transaction = new WriteTransaction(this.#dependencies, session, caller);
          return work(transaction);
        }),
      );
    } catch (error) {
      const attempted = transaction?.attempted ?? { values: {}, callerValues: {} };
      throw await explainWriteError(error, this.#store, resource, caller, attempted);
    }
  }

  async #delete(
    caller: Caller,
    resource: ResourceModel,
    work: (writing: WriteTransaction) => Promise<void>,
  ): Promise<void> {
    try {
      await this.#store.transaction((session) =>
        work(new WriteTransaction(this.#dependencies, session, caller)),
      );
    } catch (error) {
      throw explainDeleteError(error, resource);
    }
  }
}

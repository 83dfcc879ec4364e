// The writes of a caller, with authorization, validation and explained errors: each in a transaction of its own, or
// several in one. One class has a method for each operation, so the file is longer than most.

import type { Caller } from "../declare/caller.ts";
import { isId } from "../lib/id.ts";
import type { ActionModel, Attribute, CollectionActionModel, ResourceModel } from "../model/model.ts";
import type { Container, ReadOne } from "../query/read.ts";
import type { RowValues } from "../query/write.ts";
import type { TransactionOptions } from "../store/database.ts";
import { requireScope, withPolicies } from "./authorize.ts";
import { explainDeleteError, explainWriteError, retryOnCollision } from "./constraint.ts";
import { containerConditions, requireContainer } from "./containers.ts";
import { idByValue, throwNotFound } from "./find-row.ts";
import { policyConditions, resultConditions, writeConditions } from "./policy.ts";
import { invalidBodyReferences } from "./references.ts";
import { createWithSingleStatement } from "./single-statement-create.ts";
import { InvalidInput, validMembers } from "./validation/invalid-input.ts";
import { patchedValues, replacementValues } from "./validation/row-values.ts";
import type { Precondition, WriteDependencies } from "./write-context.ts";
import type { WriteResult } from "./write-result.ts";
import type { WriteScope } from "./write-scope.ts";
import { WriteTransaction } from "./write-transaction.ts";

export class Writes {
  readonly #dependencies: WriteDependencies;
  readonly #scope: WriteScope;

  constructor(dependencies: WriteDependencies, scope: WriteScope) {
    this.#dependencies = dependencies;
    this.#scope = scope;
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
      this.#dependencies.validator.validateWhole(resource, "create", body),
    );
    const created = this.#scope.transaction
      ? undefined
      : await createWithSingleStatement(this.#dependencies, caller, resource, input, parentId);
    if (created) return created;
    // Related rows may decide about a new row only after it is written, and then refuse it.
    const isSingleWrite =
      resource.allowsSingleStatementCreate && resultConditions(caller, resource, "create").length === 0;
    const options = { isSingleWrite };
    return this.#write(caller, resource, (writing) => writing.insert(resource, input, parentId), options);
  }

  /**
   * Replaces the fields of a row. Fields that the body omits get their defaults.
   * @param kept fields that keep their values, because the body is of a version that does not have them
   */
  async replace(
    caller: Caller,
    resource: ResourceModel,
    id: string,
    body: unknown,
    precondition?: Precondition,
    kept: readonly Attribute[] = [],
  ): Promise<WriteResult> {
    requireScope(caller, resource.scopes.write);
    const input = await this.#validated(caller, resource, id, body, () =>
      this.#dependencies.validator.validateWhole(resource, "replace", body, kept),
    );
    const values = (now: string): RowValues => replacementValues(resource, input, caller, now, kept);
    return this.#write(caller, resource, (writing) =>
      writing.update(resource, id, (_, now) => values(now), precondition),
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
    return this.updateAllowed(caller, resource, id, body, precondition);
  }

  /** Like `update`, for a caller who needs no scope. */
  async updateAllowed(
    caller: Caller,
    resource: ResourceModel,
    id: string,
    body: unknown,
    precondition?: Precondition,
  ): Promise<WriteResult> {
    const input = await this.#validated(caller, resource, id, body, () =>
      this.#dependencies.validator.validate(resource, "update", body),
    );
    return this.#write(caller, resource, (writing) =>
      writing.update(
        resource,
        id,
        (current) =>
          this.#dependencies.validator.validateMerged(resource, patchedValues(resource, input, current)),
        precondition,
      ),
    );
  }

  /** Deletes a row and its dependents, or marks them as deleted. @returns the row as it was before */
  async delete(
    caller: Caller,
    resource: ResourceModel,
    id: string,
    precondition?: Precondition,
  ): Promise<RowValues> {
    requireScope(caller, resource.scopes.write);
    return this.#delete(caller, resource, (writing) => writing.delete(resource, id, precondition));
  }

  /** Deletes all rows of a nested collection that the caller may delete. */
  async deleteAll(caller: Caller, resource: ResourceModel, container: Container): Promise<void> {
    requireScope(caller, resource.scopes.write);
    await requireContainer(this.#dependencies.store, caller, container, this.#scope.session);
    const conditions = [
      ...containerConditions(container),
      ...policyConditions(caller, resource),
      ...writeConditions(caller, resource, "delete"),
    ];
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
    const input = this.#dependencies.validator.validateInput(action, body);
    if (action.isRestoration)
      return this.#write(caller, resource, (writing) => writing.restore(resource, id));
    return this.#write(caller, resource, (writing) => writing.runAction(resource, id, action, input));
  }

  /**
   * Runs an action on a collection.
   * @param parentId for a resource with a parent
   * @returns its answer as JSON text
   */
  async runCollectionAction(
    caller: Caller,
    resource: ResourceModel,
    action: CollectionActionModel,
    body: unknown,
    parentId: string | undefined,
  ): Promise<string> {
    requireScope(caller, resource.scopes.write);
    const input = this.#dependencies.validator.validateInput(action, body);
    return this.#transact(caller, (writing) =>
      writing.runCollectionAction(resource, action, input, parentId),
    );
  }

  /**
   * The row after a write of the same caller, who needs no scope to read it.
   * @throws Problem `not_found`; in a transaction `validation_error` for a selection that may read many rows
   */
  async getAfterWrite(caller: Caller, read: ReadOne): Promise<string> {
    const { store } = this.#dependencies;
    const { transaction } = this.#scope;
    const allowed = withPolicies(caller, read);
    if (!isId(read.id)) throwNotFound(read.resource);
    const text = transaction
      ? await store.getWithin(transaction, caller.tenantId, allowed)
      : await store.get(caller.tenantId, allowed);
    return text ?? throwNotFound(read.resource);
  }

  /** The id of the row that has a value of a unique attribute; undefined if there is none that the caller may see. */
  findId(
    caller: Caller,
    resource: ResourceModel,
    attribute: Attribute,
    value: string | number,
  ): Promise<string | undefined> {
    return idByValue(this.#dependencies.store, this.#scope.session, caller, resource, { attribute, value });
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
      const { store } = this.#dependencies;
      const { session } = this.#scope;
      const values = validMembers(body, error.errors);
      const invalid = await invalidBodyReferences(store, session, caller, resource, id, values);
      throw invalid.length > 0 ? new InvalidInput([...error.errors, ...invalid]) : error;
    }
  }

  async #write(
    caller: Caller,
    resource: ResourceModel,
    work: (transaction: WriteTransaction) => Promise<WriteResult>,
    options?: TransactionOptions,
  ): Promise<WriteResult> {
    let transaction: WriteTransaction | undefined;
    const isLast = !this.#scope.transaction;
    try {
      return await retryOnCollision(resource, () =>
        this.#scope.run(
          (session) => {
            transaction = new WriteTransaction(this.#dependencies, session, caller, { isLast });
            return work(transaction);
          },
          { ...options, tenantId: caller.tenantId },
        ),
      );
    } catch (error) {
      const attempted = transaction?.attempted ?? { values: {}, callerValues: {} };
      const { store } = this.#dependencies;
      throw await explainWriteError(error, store, this.#scope.session, resource, caller, attempted);
    }
  }

  async #delete<T>(
    caller: Caller,
    resource: ResourceModel,
    work: (writing: WriteTransaction) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#transact(caller, work);
    } catch (error) {
      throw explainDeleteError(error, resource);
    }
  }

  #transact<T>(caller: Caller, work: (writing: WriteTransaction) => Promise<T>): Promise<T> {
    const { tenantId } = caller;
    const options = { isLast: !this.#scope.transaction };
    return this.#scope.run(
      (session) => work(new WriteTransaction(this.#dependencies, session, caller, options)),
      { tenantId },
    );
  }
}

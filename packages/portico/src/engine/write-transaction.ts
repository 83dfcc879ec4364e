// The writes of one transaction on behalf of one caller: the row, its hooks and its event. One class has all of them,
// because hooks and actions write rows in turn, so the file is longer than most.

import type { Caller } from "../declare/caller.ts";
import type { HookContext, ParentContext } from "../declare/hooks.ts";
import type { Resource } from "../declare/resource.ts";
import type { Rows } from "../declare/rows.ts";
import type { ActionModel, Attribute, CollectionActionModel, ResourceModel, Shape } from "../model/model.ts";
import type { Condition } from "../query/condition.ts";
import type { RowValues } from "../query/write.ts";
import type { Transaction } from "../store/database.ts";
import { requireSetByCode, valuesOfHook } from "./code-results.ts";
import { type AttemptedWrite, retryOnCollision } from "./constraint.ts";
import { requireParentRow } from "./find-row.ts";
import { hookRows } from "./hook-rows.ts";
import { lockedRows } from "./locked-rows.ts";
import { newRow } from "./new-row.ts";
import { changedReferences, requireVisibleReferences } from "./references.ts";
import { restoreRow } from "./restoration.ts";
import { RowDeletion } from "./row-deletion.ts";
import { type RunNested, TransactionRows } from "./row-operations.ts";
import { runCollectionAction, runRowAction } from "./run-action.ts";
import { internalValues } from "./stored-row.ts";
import { areUpdatedTogether, updateTogether } from "./update-together.ts";
import { insertValues, withSearchFields } from "./validation/row-values.ts";
import {
  type LockedRow,
  type Precondition,
  WriteContext,
  type WriteDependencies,
  type WriteOptions,
} from "./write-context.ts";
import { WritePolicy } from "./write-policy.ts";
import { WriteResult } from "./write-result.ts";

export class WriteTransaction {
  readonly #dependencies: WriteDependencies;
  readonly #context: WriteContext;
  readonly #policy: WritePolicy;
  readonly #deletion: RowDeletion;
  /** The row of the last write, for the explanation of a violated constraint. */
  attempted: AttemptedWrite = { values: {}, callerValues: {} };

  constructor(
    dependencies: WriteDependencies,
    session: Transaction,
    caller: Caller,
    options: WriteOptions = {},
  ) {
    this.#dependencies = dependencies;
    this.#context = new WriteContext(dependencies, session, caller, options);
    this.#policy = new WritePolicy(this.#context);
    this.#deletion = new RowDeletion(this.#context, this.#policy, () => this.#hookContext({}));
  }

  /**
   * Adds a row.
   * @param input a valid body
   * @param serverFields values that callers cannot set
   */
  async insert(
    resource: ResourceModel,
    input: RowValues,
    parentId?: string,
    serverFields: RowValues = {},
  ): Promise<WriteResult> {
    const { hooks } = resource;
    const { caller, now } = this.#context;
    const ofParent = await this.#parentContext(resource, parentId);
    await this.#requireReferences(resource, input);
    const values = { ...insertValues(resource.attributes, input, caller, now), ...serverFields };
    const returnedOnce = {};
    const hookResult = await hooks.before?.create?.(values, {
      ...this.#hookContext(returnedOnce),
      ...ofParent,
    });
    const written = { ...values, ...valuesOfHook(this.#context, resource, hookResult) };
    const withFiles = await this.#context.attachFiles(resource, written);
    const row = newRow(resource, withFiles, now, parentId);
    requireSetByCode(this.#context, resource, row);
    const { id } = row;
    const undecided = this.#policy.requireResult(resource, "create", row);
    this.attempted = { values: row, callerValues: input };
    const isLast = !hooks.after?.create && undecided.length === 0;
    const text = await this.#context.insert(resource, row, isLast);
    const internal = internalValues(resource, row);
    const result = WriteResult.ofText(id, text, returnedOnce, internal);
    await hooks.after?.create?.(result.row, { ...this.#hookContext(returnedOnce), ...ofParent });
    // Hooks may have written the related rows that decide.
    await this.#policy.requireStored(resource, id, undecided);
    if (!hooks.after?.create) return result;
    return WriteResult.ofText(id, await this.#context.reread(resource, id, text), returnedOnce, internal);
  }

  /** Updates a row with what `changesTo` returns for it. @throws Problem `not_found` */
  async update(
    resource: ResourceModel,
    id: string,
    changesTo: (current: RowValues, now: string) => RowValues,
    precondition?: Precondition,
  ): Promise<WriteResult> {
    return this.#updateLocked(resource, await this.#context.lockedRow(resource, id, precondition), changesTo);
  }

  /**
   * Updates each row that meets the conditions.
   * @returns the number of rows
   * @throws Problem `conflict` for too many rows
   */
  async updateMany(
    resource: ResourceModel,
    conditions: readonly Condition[],
    changesTo: (current: RowValues) => RowValues,
  ): Promise<number> {
    const context = this.#context;
    // Changes that depend on the row are not the same for all.
    const changes = changesTo({});
    const isTogether = areUpdatedTogether(resource, changes);
    let count = 0;
    for await (const rows of lockedRows(context, resource, conditions, "update", isTogether)) {
      if (isTogether) await updateTogether(context, this.#policy, resource, rows, changes);
      else for (const current of rows) await this.#updateLocked(resource, current, changesTo);
      count += rows.length;
    }
    return count;
  }

  async #updateLocked(
    resource: ResourceModel,
    current: LockedRow,
    changesTo: (current: RowValues, now: string) => RowValues,
  ): Promise<WriteResult> {
    const { hooks } = resource;
    const { id } = current;
    const { now } = this.#context;
    await this.#policy.requireWritable(resource, "update", current);
    const changes = { ...changesTo(current, now) };
    const references = changedReferences(resource, changes, current);
    await this.#requireReferences(resource, references);
    const returnedOnce = {};
    const hookResult = await hooks.before?.update?.(changes, { ...this.#hookContext(returnedOnce), current });
    const written = { ...changes, ...valuesOfHook(this.#context, resource, hookResult), updatedAt: now };
    const values = await this.#context.attachFiles(resource, written, current);
    const row = { ...current, ...values };
    const undecided = this.#policy.requireResult(resource, "update", row);
    this.attempted = { values: row, callerValues: references };
    const changed = withSearchFields(resource, values, row);
    await this.#context.releaseFiles(resource, current, row);
    const isLast = !hooks.after?.update && undecided.length === 0;
    const text = await this.#context.update(resource, id, changed, "updated", isLast);
    const internal = internalValues(resource, values, current);
    const result = WriteResult.ofText(id, text, returnedOnce, internal);
    const hookContext = { ...this.#hookContext(returnedOnce), previous: current };
    await hooks.after?.update?.(result.row, hookContext);
    await this.#policy.requireStored(resource, id, undecided);
    if (!hooks.after?.update) return result;
    return WriteResult.ofText(id, await this.#context.reread(resource, id, text), returnedOnce, internal);
  }

  /** Runs an action on a row. @throws Problem `not_found` */
  async runAction(
    resource: ResourceModel,
    id: string,
    action: ActionModel,
    input: RowValues,
  ): Promise<WriteResult> {
    const current = await this.#context.lockedRow(resource, id, undefined);
    await this.#policy.requireWritable(resource, "update", current);
    await this.#requireReferences(action, input);
    return runRowAction(this.#context, this.callerRows, resource, action, { current, input });
  }

  /**
   * Runs an action on a collection.
   * @returns its answer as JSON text
   * @throws Problem `not_found` for a parent that the caller does not see
   */
  async runCollectionAction(
    resource: ResourceModel,
    action: CollectionActionModel,
    input: RowValues,
    parentId: string | undefined,
  ): Promise<string> {
    const ofParent = resource.parent && (await this.#lockedParent(resource.parent, parentId));
    await this.#requireReferences(action, input);
    return runCollectionAction(this.#context, this.callerRows, resource, action, { ...ofParent, input });
  }

  /** Restores a deleted row, with those that were deleted with it. @throws as `restoreRow` */
  async restore(resource: ResourceModel, id: string): Promise<WriteResult> {
    const text = await restoreRow(this.#context, resource, id);
    const undecided = this.#policy.requireResult(resource, "update", JSON.parse(text));
    await this.#policy.requireStored(resource, id, undecided);
    return WriteResult.ofText(id, text, {});
  }

  /**
   * Deletes a row and its dependents, or marks them as deleted.
   * @returns the row as it was before
   * @throws Problem `not_found`
   */
  delete(resource: ResourceModel, id: string, precondition?: Precondition): Promise<RowValues> {
    return this.#deletion.delete(resource, id, precondition);
  }

  /** Deletes each row that meets the conditions. @returns the number of rows @throws Problem as `updateMany` */
  async deleteMany(resource: ResourceModel, conditions: readonly Condition[]): Promise<number> {
    let count = 0;
    const isLeaf = this.#deletion.isLeaf(resource);
    for await (const rows of lockedRows(this.#context, resource, conditions, "delete", isLeaf)) {
      if (isLeaf) await this.#deletion.deleteLocked(resource, rows);
      else for (const { id } of rows) await this.#deletion.delete(resource, id);
      count += rows.length;
    }
    return count;
  }

  /** Deletes all rows that meet the conditions. */
  deleteAll(resource: ResourceModel, conditions: readonly Condition[]): Promise<void> {
    return this.#deletion.deleteAll(resource, conditions);
  }

  /** The operations that actions and routes can use, restricted by the policies of the caller. */
  get callerRows(): Rows {
    return this.#rowsOf({ isByHook: false });
  }

  /** The operations that hooks can use, without policies. */
  get rows(): Rows {
    return this.#rowsOf({ isByHook: true });
  }

  /**
   * The operations that code of declarations can use.
   * @param by hooks are not restricted by the policies of the caller; actions are
   */
  #rowsOf(by: Pick<Required<WriteOptions>, "isByHook">): Rows {
    const nested: RunNested = (resource, work, explain) => this.#nested(by, resource, work, explain);
    const operations = new TransactionRows(this.#context, !by.isByHook, nested);
    const { model, session } = this.#context;
    const unrestricted = by.isByHook ? undefined : () => this.rows;
    return hookRows(
      model,
      unrestricted,
      operations,
      (operation) => session.awaited?.(operation) ?? operation,
    );
  }

  /** Runs an operation of a hook. If it fails and the hook continues, nothing of it remains. */
  async #nested<T>(
    by: Pick<Required<WriteOptions>, "isByHook">,
    resource: ResourceModel,
    work: (nested: WriteTransaction) => Promise<T>,
    explain: (error: unknown, resource: ResourceModel) => unknown,
  ): Promise<T> {
    const { session, caller, now } = this.#context;
    try {
      return await retryOnCollision(resource, () =>
        session.nested((part) =>
          work(new WriteTransaction(this.#dependencies, part, caller, { now, ...by })),
        ),
      );
    } catch (error) {
      throw explain(error, resource);
    }
  }

  /** @param returnedOnce receives the members that hooks return once */
  #hookContext(returnedOnce: Record<string, unknown>): HookContext {
    return this.#context.hookContext(this.rows, returnedOnce);
  }

  /** Requires that the parent exists. @returns what hooks know of it */
  async #parentContext(
    { parent, hooks }: ResourceModel,
    id = "",
  ): Promise<ParentContext<Resource> | undefined> {
    if (!parent) return undefined;
    if (hooks.before?.create || hooks.after?.create) return this.#lockedParent(parent, id);
    const { target } = parent.reference!;
    const { store, session, caller } = this.#context;
    await requireParentRow(store, session, caller, target, id, this.#context.conditionsOf(target));
    return undefined;
  }

  /** Code of declarations may write the parent: what it sees of it must not change before. */
  async #lockedParent({ reference }: Attribute, id = ""): Promise<ParentContext<Resource>> {
    const row = await this.#context.lockedRow(reference!.target, id, undefined);
    // The row is one of the declared resource, whose fields the compiler knows.
    return { parentId: id, parent: row as unknown as ParentContext<Resource>["parent"] };
  }

  async #requireReferences(shape: Shape, values: RowValues): Promise<void> {
    const { store, session, caller, isByHook } = this.#context;
    if (!isByHook) await requireVisibleReferences(store, session, caller, shape, values);
  }
}

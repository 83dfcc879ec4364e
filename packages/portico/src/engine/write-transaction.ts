// The writes of one transaction on behalf of one caller: the row, its hooks and its event.

import type { Caller } from "../declare/caller.ts";
import type { HookContext, Rows } from "../declare/resource.ts";
import type { ActionModel, ResourceModel, Shape } from "../model/model.ts";
import type { Condition } from "../query/condition.ts";
import { wholeRow } from "../query/selection.ts";
import type { RowValues } from "../query/write.ts";
import type { Transaction } from "../store/database.ts";
import {
  type AttemptedWrite,
  explainDeleteError,
  explainNestedError,
  retryOnCollision,
} from "./constraint.ts";
import { findLocked, requireParentRow } from "./find-row.ts";
import { hookRows } from "./hook-rows.ts";
import { newRow } from "./new-row.ts";
import { policyConditions } from "./policy.ts";
import { changedReferences, requireVisibleReferences } from "./references.ts";
import { RowDeletion } from "./row-deletion.ts";
import { insertValues, patchedValues, splitServerFields, withSearchFields } from "./validation/row-values.ts";
import {
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
    await this.#requireParent(resource, parentId);
    await this.#requireReferences(resource, input);
    const values = { ...insertValues(resource.attributes, input, caller, now), ...serverFields };
    const returnedOnce = {};
    const hookResult = await hooks.before?.create?.(values, this.#hookContext(returnedOnce));
    const row = newRow(
      resource,
      { ...values, ...this.#context.hookValues(resource, hookResult) },
      now,
      parentId,
    );
    this.#context.requireSetByCode(resource, row);
    const { id } = row;
    const undecided = this.#policy.requireResult(resource, "create", row);
    this.attempted = { values: row, callerValues: input };
    const isLast = !hooks.after?.create && undecided.length === 0;
    const text = await this.#context.insert(resource, row, isLast);
    const result = WriteResult.ofText(id, text, returnedOnce);
    await hooks.after?.create?.(result.row, this.#hookContext(returnedOnce));
    // Hooks may have written the related rows that decide.
    await this.#policy.requireStored(resource, id, undecided);
    if (!hooks.after?.create) return result;
    return WriteResult.ofText(id, await this.#context.reread(resource, id, text), returnedOnce);
  }

  /** Updates a row with what `changesTo` returns for it. @throws Problem `not_found` */
  async update(
    resource: ResourceModel,
    id: string,
    changesTo: (current: RowValues, now: string) => RowValues,
    precondition?: Precondition,
  ): Promise<WriteResult> {
    const { hooks } = resource;
    const { now } = this.#context;
    const current = await this.#context.lockedRow(resource, id, precondition);
    await this.#policy.requireWritable(resource, "update", current);
    const changes = { ...changesTo(current, now) };
    const references = changedReferences(resource, changes, current);
    await this.#requireReferences(resource, references);
    const returnedOnce = {};
    const hookResult = await hooks.before?.update?.(changes, { ...this.#hookContext(returnedOnce), current });
    const values = { ...changes, ...this.#context.hookValues(resource, hookResult), updatedAt: now };
    const row = { ...current, ...values };
    const undecided = this.#policy.requireResult(resource, "update", row);
    this.attempted = { values: row, callerValues: references };
    const changed = withSearchFields(resource, values, row);
    const isLast = !hooks.after?.update && undecided.length === 0;
    const text = await this.#context.update(resource, id, changed, "updated", isLast);
    const result = WriteResult.ofText(id, text, returnedOnce);
    const hookContext = { ...this.#hookContext(returnedOnce), previous: current };
    await hooks.after?.update?.(result.row, hookContext);
    await this.#policy.requireStored(resource, id, undecided);
    if (!hooks.after?.update) return result;
    return WriteResult.ofText(id, await this.#context.reread(resource, id, text), returnedOnce);
  }

  /** Runs an action on a row. @throws Problem `not_found` */
  async runAction(
    resource: ResourceModel,
    id: string,
    action: ActionModel,
    input: RowValues,
  ): Promise<WriteResult> {
    const { caller, now } = this.#context;
    const current = await this.#context.lockedRow(resource, id, undefined);
    await this.#policy.requireWritable(resource, "update", current);
    await this.#requireReferences(action, input);
    const completeInput = insertValues(action.attributes, input, caller, now);
    const returnedOnce = {};
    const hookContext = this.#context.hookContext(this.#rowsOf({ isByHook: false }), returnedOnce);
    const result = await action.run(current, completeInput, hookContext);
    // A row that the action created has members that are returned once among its own.
    const { row, others } = Object.groupBy(Object.entries(result), ([name]) =>
      resource.attribute.has(name) ? "row" : "others",
    );
    Object.assign(returnedOnce, Object.fromEntries(others ?? []));
    return WriteResult.ofRow(result.id, Object.fromEntries(row ?? []), returnedOnce);
  }

  /**
   * Deletes a row and its dependents, or marks them as deleted.
   * @returns the row as it was before
   * @throws Problem `not_found`
   */
  delete(resource: ResourceModel, id: string, precondition?: Precondition): Promise<RowValues> {
    return this.#deletion.delete(resource, id, precondition);
  }

  /** Deletes all rows that meet the conditions. */
  deleteAll(resource: ResourceModel, conditions: readonly Condition[]): Promise<void> {
    return this.#deletion.deleteAll(resource, conditions);
  }

  /** The operations that hooks can use, without policies. */
  get rows(): Rows {
    return this.#rowsOf({ isByHook: true });
  }

  /**
   * The operations that code of declarations can use; each runs under its own savepoint.
   * @param by hooks are not restricted by the policies of the caller; actions are
   */
  #rowsOf(by: Pick<Required<WriteOptions>, "isByHook">): Rows {
    const { model, store, session, caller, validator } = this.#context;
    const unrestricted = by.isByHook ? undefined : (): Rows => this.rows;
    return hookRows(model, unrestricted, {
      get: (resource, id) => {
        const conditions = by.isByHook ? [] : policyConditions(caller, resource);
        const read = { resource, selection: wholeRow(resource), id, conditions };
        // A hook decides by what it reads, so that must not change before it writes.
        return store.getLocked(caller.tenantId, read, session, "update");
      },
      create: (resource, body, parentId) =>
        this.#nested(by, resource, async (nested) => {
          const [input, serverFields] = splitServerFields(resource, body);
          const values = this.#context.hookValues(resource, serverFields);
          return nested.insert(
            resource,
            validator.validateWhole(resource, "create", input),
            parentId,
            values,
          );
        }),
      update: (resource, id, body) =>
        this.#nested(by, resource, async (nested) => {
          const input = validator.validate(resource, "hookResult", body);
          const changes = (current: RowValues): RowValues =>
            validator.validateMerged(resource, patchedValues(resource, input, current));
          return nested.update(resource, id, changes);
        }),
      delete: (resource, id) =>
        this.#nested(
          by,
          resource,
          async (nested) => void (await nested.delete(resource, id)),
          explainDeleteError,
        ),
    });
  }

  /** Runs an operation of a hook. If it fails and the hook continues, nothing of it remains. */
  async #nested<T>(
    by: Pick<Required<WriteOptions>, "isByHook">,
    resource: ResourceModel,
    work: (nested: WriteTransaction) => Promise<T>,
    explain = explainNestedError,
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

  async #requireParent({ parent, hooks }: ResourceModel, id = ""): Promise<void> {
    if (!parent) return;
    const { target } = parent.reference!;
    const { store, session, caller } = this.#context;
    const conditions = this.#context.conditionsOf(target);
    if (!hooks.before?.create && !hooks.after?.create)
      return requireParentRow(store, session, caller, target, id, conditions);
    // Hooks may write the parent: what they see of it must not change before.
    await findLocked(store, session, caller, target, id, "update", conditions);
  }

  async #requireReferences(shape: Shape, values: RowValues): Promise<void> {
    const { store, session, caller, isByHook } = this.#context;
    if (!isByHook) await requireVisibleReferences(store, session, caller, shape, values);
  }
}

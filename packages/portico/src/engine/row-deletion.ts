// Deletes rows, and with each row those that are deleted with it.

import type { HookContext } from "../declare/resource.ts";
import { Problem } from "../errors.ts";
import { TimeSlice } from "../lib/time-slice.ts";
import type { ResourceModel } from "../model/model.ts";
import { areDecidedByRow, type Condition } from "../query/condition.ts";
import { policyValues } from "../query/policy-values.ts";
import { wholeRow } from "../query/selection.ts";
import type { RowValues } from "../query/write.ts";
import { batchesOfIds, rowIds } from "./row-ids.ts";
import type { Precondition, WriteContext } from "./write-context.ts";
import type { WritePolicy } from "./write-policy.ts";

/**
 * Rows that are deleted with another, or with a whole collection. Each has an event, and all of them are one
 * transaction.
 */
const maxTogether = 10_000;

const none: readonly never[] = Object.freeze([]);

export class RowDeletion {
  readonly #context: WriteContext;
  readonly #policy: WritePolicy;
  readonly #hookContext: () => HookContext;
  /** Rows whose deletion has begun. Rows that refer to each other are deleted once. */
  readonly #deleting = new Set<string>();
  readonly #slice = new TimeSlice();
  /** Rows that are deleted with another, or with a whole collection. */
  readonly #together = new Set<string>();

  constructor(context: WriteContext, policy: WritePolicy, hookContext: () => HookContext) {
    this.#context = context;
    this.#policy = policy;
    this.#hookContext = hookContext;
  }

  /**
   * Deletes a row and its dependents, or marks them as deleted.
   * @returns the row as it was before
   * @throws Problem `not_found`, `forbidden`
   */
  async delete(resource: ResourceModel, id: string, precondition?: Precondition): Promise<RowValues> {
    const current = await this.#context.lockedRow(resource, id, precondition, "delete");
    await this.#policy.requireWritable(resource, "delete", current);
    await this.#delete(resource, id, current, !resource.hooks.after?.delete);
    return current;
  }

  /**
   * Deletes all rows that meet the conditions. Rows that are only marked may be any number: all keys of a tenant can be
   * revoked at once.
   * @throws Problem `conflict` for too many rows
   */
  async deleteAll(resource: ResourceModel, conditions: readonly Condition[]): Promise<void> {
    const { store, session, caller } = this.#context;
    const { tenantId } = caller;
    if (resource.markOnDelete) {
      for await (const id of rowIds(store, session, tenantId, resource, conditions)) {
        if (this.#slice.isOver) await this.#slice.yield();
        await this.#deleteListed(resource, id, conditions);
      }
      return;
    }
    // All are counted before the first is deleted, because every deletion holds up other writes.
    const batches: (readonly string[])[] = [];
    for await (const ids of batchesOfIds(store, session, tenantId, { resource, conditions })) {
      await this.#countRows(ids);
      batches.push(ids);
    }
    // A row that is deleted may be what allows to delete the others, such as the membership of the caller.
    const ofRow = conditions.filter((condition) => areDecidedByRow([condition]));
    for (const ids of batches) await this.#deleteBatch(resource, ids, ofRow);
  }

  async #deleteBatch(
    resource: ResourceModel,
    ids: readonly string[],
    conditions: readonly Condition[],
  ): Promise<void> {
    const { store, session, caller } = this.#context;
    if (this.#slice.isOver) await this.#slice.yield();
    if (!isLeaf(resource)) {
      for (const id of ids) await this.#deleteListed(resource, id, conditions);
      return;
    }
    const read = { ids, conditions };
    const matching = await store.filterLockedIds(caller.tenantId, resource, read, session, "delete");
    const remaining = ids.filter((id) => matching.has(id));
    await this.#deleteLeaves(resource, remaining, none);
  }

  /** @param isLast whether the transaction may end with the deletion of the row */
  async #delete(
    resource: ResourceModel,
    id: string,
    current: Record<string, unknown>,
    isLast = false,
  ): Promise<void> {
    const { hooks, markOnDelete } = resource;
    const { now } = this.#context;
    this.#deleting.add(id);
    if (markOnDelete && current[markOnDelete.name] !== null) return;
    await hooks.before?.delete?.({ ...this.#hookContext(), current });
    const before = this.#together.size;
    await this.#deleteDependents(resource, id);
    if (!markOnDelete) await this.#deleteChildren(resource, current, none);
    const isTogether = this.#together.has(id) || this.#together.size > before;
    const values = markOnDelete && { [markOnDelete.name]: now, updatedAt: now };
    const text = await (values
      ? this.#context.update(resource, id, values, "deleted", isLast)
      : this.#context.delete(resource, id, { isLast, isTogether }));
    await hooks.after?.delete?.(markOnDelete ? JSON.parse(text) : current, this.#hookContext());
  }

  /** Deletes a row that was listed before, if it was not deleted together with another row since. */
  async #deleteListed(resource: ResourceModel, id: string, conditions: readonly Condition[]): Promise<void> {
    if (this.#deleting.has(id)) return;
    const { store, session, caller } = this.#context;
    const read = { resource, selection: wholeRow(resource), id, conditions };
    const text = await store.getLocked(caller.tenantId, read, session, "delete");
    if (text !== undefined) await this.#delete(resource, id, JSON.parse(text));
  }

  /**
   * Deletes the children of a row, and theirs, without hooks. They are deleted even if a policy hides them from the
   * caller.
   * @param deletedParents what policies may read of the parents of the row, which are deleted too
   */
  async #deleteChildren(
    resource: ResourceModel,
    row: RowValues,
    deletedParents: readonly RowValues[],
  ): Promise<void> {
    const { store, session, caller } = this.#context;
    for (const child of resource.children) {
      const conditions: Condition[] = [
        { attribute: child.parent!, operator: "in", values: [String(row.id)] },
      ];
      const parents = child.isRestricted ? [policyValues(resource, row), ...deletedParents] : none;
      const hasOwn = child.children.length > 0 || child.dependents.length > 0;
      // Newest first: a row may refer to an older one of its kind.
      const rows = { resource: child, conditions, isNewestFirst: true };
      for await (const ids of batchesOfIds(store, session, caller.tenantId, rows)) {
        await this.#countRows(ids);
        if (hasOwn) for (const id of ids) await this.#deleteChild(child, id, parents);
        else await this.#deleteLeaves(child, ids, parents);
      }
    }
  }

  async #deleteChild(resource: ResourceModel, id: string, parents: readonly RowValues[]): Promise<void> {
    if (this.#deleting.has(id)) return;
    this.#deleting.add(id);
    const { store, session, caller } = this.#context;
    const read = { resource, selection: wholeRow(resource), id, conditions: [] };
    const text = await store.getLocked(caller.tenantId, read, session, "delete");
    if (text === undefined) return;
    await this.#deleteDependents(resource, id);
    await this.#deleteChildren(resource, JSON.parse(text), parents);
    await this.#deleteLeaves(resource, [id], parents);
  }

  /** Deletes rows without children and dependents. */
  async #deleteLeaves(
    resource: ResourceModel,
    ids: readonly string[],
    parents: readonly RowValues[],
  ): Promise<void> {
    const { store, session, caller } = this.#context;
    const size = store.writes.maxDeletedTogether(resource);
    for (let start = 0; start < ids.length; start += size) {
      const part = { resource, tenantId: caller.tenantId, ids: ids.slice(start, start + size) };
      await this.#context.recordDeleted(resource, await store.writes.deleteMany(session, part), parents);
    }
  }

  /** Counts rows before they are deleted, and lets other requests run. @throws Problem `conflict` beyond the limit */
  async #countRows(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#together.add(id);
    if (this.#together.size > maxTogether)
      throw new Problem(
        "conflict",
        `More than ${maxTogether} rows would be deleted together. Delete some of them first.`,
      );
    if (this.#slice.isOver) await this.#slice.yield();
  }

  /** Deletes the rows that are deleted with a row. In those that are only marked, the reference to it is set to null. */
  async #deleteDependents(resource: ResourceModel, id: string): Promise<void> {
    const { store, session, caller } = this.#context;
    const { tenantId } = caller;
    for (const { resource: dependent, attribute } of resource.dependents) {
      const condition: Condition = { attribute, operator: "in", values: [id] };
      for await (const each of rowIds(store, session, tenantId, dependent, [condition])) {
        await this.#countRows([each]);
        // Dependents are deleted even if a policy hides them from the caller.
        await this.#deleteListed(dependent, each, []);
        if (!dependent.markOnDelete || resource.markOnDelete) continue;
        const values = { [attribute.name]: null };
        await store.writes.update(session, { resource: dependent, tenantId, id: each, values });
      }
    }
  }
}

/** Whether the rows of a resource are deleted with nothing but their events, so that one statement can delete many. */
function isLeaf({ children, dependents, hooks, markOnDelete }: ResourceModel): boolean {
  const isHooked = hooks.before?.delete !== undefined || hooks.after?.delete !== undefined;
  return children.length === 0 && dependents.length === 0 && !isHooked && !markOnDelete;
}

// Deletes rows, and with each row those that are deleted with it. The steps call each other for the rows of other resources,
// so the file is longer than most.

import type { HookContext } from "../declare/hooks.ts";
import { Problem } from "../errors.ts";
import { TimeSlice } from "../lib/time-slice.ts";
import type { ResourceModel } from "../model/model.ts";
import { areDecidedByRow, type Condition } from "../query/condition.ts";
import { policyValues } from "../query/policy-values.ts";
import { wholeRow } from "../query/selection.ts";
import type { RowValues } from "../query/write.ts";
import { KeptRows } from "./kept-rows.ts";
import { clearReferences, lockReferringRows, takeOffLinkedRows } from "./linked-rows.ts";
import { batchesOfIds, rowIds } from "./row-ids.ts";
import { parseStored, storedSelection } from "./stored-row.ts";
import type { LockedRow, Precondition, WriteContext } from "./write-context.ts";
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
  readonly #kept: KeptRows;
  /** How many rows have been changed because they referred to a deleted one. */
  #changed = 0;

  constructor(context: WriteContext, policy: WritePolicy, hookContext: () => HookContext) {
    this.#context = context;
    this.#policy = policy;
    this.#hookContext = hookContext;
    this.#kept = new KeptRows(context);
  }

  /**
   * Deletes a row and its dependents, or marks them as deleted.
   * @returns the row as it was before
   * @throws Problem `not_found`, `forbidden`
   */
  async delete(resource: ResourceModel, id: string, precondition?: Precondition): Promise<RowValues> {
    await lockReferringRows(this.#context, resource, id, maxTogether);
    const current = await this.#context.lockedRow(resource, id, precondition, "delete");
    await this.#policy.requireWritable(resource, "delete", current);
    this.#kept.begin(resource, id);
    await this.#delete(resource, id, current, !resource.hooks.after?.delete);
    return current;
  }

  /** Whether the rows of a resource are deleted with nothing but their events, so that one statement can delete many. */
  isLeaf(resource: ResourceModel): boolean {
    const { hooks, markOnDelete } = resource;
    const isHooked = hooks.before?.delete !== undefined || hooks.after?.delete !== undefined;
    return !affectsOthers(resource) && !isHooked && !markOnDelete;
  }

  /** Deletes locked rows of a resource that `isLeaf`, one by one. @throws Problem `forbidden` */
  async deleteLocked(resource: ResourceModel, rows: readonly LockedRow[]): Promise<void> {
    await this.#policy.requireAllWritable(resource, "delete", rows);
    this.#kept.begin(resource);
    const ids = rows.map(({ id }) => id);
    await this.#deleteLeaves(resource, ids, none);
  }

  /**
   * Deletes all rows that meet the conditions. Rows that are only marked may be any number: all keys of a tenant can be
   * revoked at once.
   * @throws Problem `conflict` for too many rows
   */
  async deleteAll(resource: ResourceModel, conditions: readonly Condition[]): Promise<void> {
    const { store, session, caller } = this.#context;
    const { tenantId } = caller;
    this.#kept.begin(resource);
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
    if (!this.isLeaf(resource)) {
      for (const id of ids) {
        this.#kept.begin(resource, id);
        await this.#deleteListed(resource, id, conditions);
      }
      return;
    }
    const read = { ids, conditions };
    const matching = await store.filterIds(caller.tenantId, resource, read, session, "delete");
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
    if (!markOnDelete) {
      await this.#deleteChildren(resource, current, none);
      await this.#takeOff(resource, id);
    }
    const isKept = !markOnDelete && (await this.#kept.add(resource, [id]));
    const isTogether = this.#together.has(id) || this.#together.size > before;
    const values = markOnDelete && { [markOnDelete.name]: now, updatedAt: now };
    const text = await (values
      ? this.#context.update(resource, id, values, "deleted", isLast)
      : this.#context.delete(resource, id, { isLast, isTogether, isKept }));
    await hooks.after?.delete?.(markOnDelete ? JSON.parse(text) : current, this.#hookContext());
  }

  /** Deletes a row that was listed before, if it was not deleted together with another row since. */
  async #deleteListed(resource: ResourceModel, id: string, conditions: readonly Condition[]): Promise<void> {
    if (this.#deleting.has(id)) return;
    const { store, session, caller } = this.#context;
    await lockReferringRows(this.#context, resource, id, maxTogether);
    const read = { resource, selection: storedSelection(resource), id, conditions };
    const text = await store.getLocked(caller.tenantId, read, session, "delete");
    if (text !== undefined) await this.#delete(resource, id, parseStored(text));
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
      // Newest first: a row may refer to an older one of its kind.
      const rows = { resource: child, conditions, isNewestFirst: true };
      for await (const ids of batchesOfIds(store, session, caller.tenantId, rows)) {
        await this.#countRows(ids);
        if (affectsOthers(child)) for (const id of ids) await this.#deleteChild(child, id, parents);
        else await this.#deleteLeaves(child, ids, parents);
      }
    }
  }

  async #deleteChild(resource: ResourceModel, id: string, parents: readonly RowValues[]): Promise<void> {
    if (this.#deleting.has(id)) return;
    this.#deleting.add(id);
    const { store, session, caller } = this.#context;
    await lockReferringRows(this.#context, resource, id, maxTogether);
    const read = { resource, selection: wholeRow(resource), id, conditions: [] };
    const text = await store.getLocked(caller.tenantId, read, session, "delete");
    if (text === undefined) return;
    await this.#deleteDependents(resource, id);
    await this.#deleteChildren(resource, JSON.parse(text), parents);
    await this.#takeOff(resource, id);
    await this.#deleteLeaves(resource, [id], parents);
  }

  /** Deletes rows without children and dependents. */
  async #deleteLeaves(
    resource: ResourceModel,
    ids: readonly string[],
    parents: readonly RowValues[],
  ): Promise<void> {
    const { store, session, caller } = this.#context;
    const size = store.writes.maxTogether(resource);
    for (let start = 0; start < ids.length; start += size) {
      const part = { resource, tenantId: caller.tenantId, ids: ids.slice(start, start + size) };
      const isKept = await this.#kept.add(resource, part.ids);
      const texts = await store.writes.deleteMany(session, part);
      await this.#context.recordDeleted(resource, texts, parents);
      if (isKept || resource.files.length === 0) continue;
      for (const text of texts.values()) await this.#context.releaseFiles(resource, JSON.parse(text));
    }
  }

  /** Takes a row off the rows that refer to it and stay. */
  async #takeOff(resource: ResourceModel, id: string): Promise<void> {
    const count = async (ids: readonly string[]): Promise<void> => {
      this.#changed += ids.length;
      await this.#countRows([]);
    };
    if (resource.linkedFrom.length > 0) await takeOffLinkedRows(this.#context, resource, id, count);
    if (resource.clearedReferences.length > 0) await clearReferences(this.#context, resource, id, count);
  }

  /** Counts rows before they are deleted, and lets other requests run. @throws Problem `conflict` beyond the limit */
  async #countRows(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#together.add(id);
    if (this.#together.size + this.#changed > maxTogether)
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

/** Whether rows of other resources, or other rows of its own, are deleted or changed with a row of a resource. */
function affectsOthers({ children, dependents, linkedFrom, clearedReferences }: ResourceModel): boolean {
  return children.length + dependents.length + linkedFrom.length + clearedReferences.length > 0;
}

// Deletes rows, and with each row those that are deleted with it.

import type { HookContext } from "../declare/resource.ts";
import type { ResourceModel } from "../model/model.ts";
import type { Condition } from "../query/read.ts";
import { wholeRow } from "../query/selection.ts";
import { dependentsOf, rowIds } from "./dependents.ts";
import { throwNotFound } from "./find-row.ts";
import type { Precondition, WriteContext } from "./write-context.ts";

export class RowDeletion {
  readonly #context: WriteContext;
  readonly #hookContext: () => HookContext;
  /** Rows whose deletion has begun. Rows that refer to each other are deleted once. */
  readonly #deleting = new Set<string>();

  constructor(context: WriteContext, hookContext: () => HookContext) {
    this.#context = context;
    this.#hookContext = hookContext;
  }

  /** Deletes a row and its dependents, or marks them as deleted. @throws Problem `not_found` */
  async delete(resource: ResourceModel, id: string, precondition?: Precondition): Promise<void> {
    await this.#delete(resource, id, await this.#context.lockedRow(resource, id, precondition, "delete"));
  }

  /** Deletes all rows that meet the conditions. */
  async deleteAll(resource: ResourceModel, conditions: readonly Condition[]): Promise<void> {
    const { store, session, caller } = this.#context;
    for await (const id of rowIds(store, session, caller.tenantId, resource, conditions))
      await this.#deleteListed(resource, id, conditions);
  }

  async #delete(resource: ResourceModel, id: string, current: Record<string, unknown>): Promise<void> {
    const { hooks, markOnDelete } = resource;
    const { store, session, caller, now } = this.#context;
    this.#deleting.add(id);
    if (markOnDelete && current[markOnDelete.name] !== null) return;
    await hooks.before?.delete?.({ ...this.#hookContext(), current });
    await this.#deleteDependents(resource, id);
    const row = { resource, tenantId: caller.tenantId, id };
    const values = markOnDelete && { [markOnDelete.name]: now, updatedAt: now };
    const text =
      (values ? await store.update(session, { ...row, values }) : await store.delete(session, row)) ??
      throwNotFound(resource);
    await this.#context.record(resource, "deleted", id, text);
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

  /** Deletes the rows that are deleted with a row. In those that are only marked, the reference to it is set to null. */
  async #deleteDependents(resource: ResourceModel, id: string): Promise<void> {
    const { model, store, session, caller } = this.#context;
    const { tenantId } = caller;
    for (const [dependent, attribute] of dependentsOf(model, resource)) {
      const condition: Condition = { attribute, operator: "in", values: [id] };
      for await (const each of rowIds(store, session, tenantId, dependent, [condition])) {
        // Dependents are deleted even if a policy hides them from the caller.
        await this.#deleteListed(dependent, each, []);
        if (!dependent.markOnDelete || resource.markOnDelete) continue;
        const values = { [attribute.name]: null };
        await store.update(session, { resource: dependent, tenantId, id: each, values });
      }
    }
  }
}

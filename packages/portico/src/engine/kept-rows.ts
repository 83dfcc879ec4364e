// Keeps the rows of soft deletions, and forgets kept rows whose parents are deleted for good.

import type { ResourceModel } from "../model/model.ts";
import type { WriteContext } from "./write-context.ts";

export class KeptRows {
  readonly #context: WriteContext;
  #isSoft = false;
  #deletedWith: string | undefined;
  #batches = 0;

  constructor(context: WriteContext) {
    this.#context = context;
  }

  /**
   * Begins a deletion.
   * @param id the row with which others are deleted; undefined while each row is deleted separately
   */
  begin({ isSoftDeleted }: ResourceModel, id?: string): void {
    this.#isSoft = isSoftDeleted;
    this.#deletedWith = id;
  }

  /**
   * Keeps rows that are about to be deleted, if the deletion is soft. Otherwise rows that were deleted softly and that
   * belong to them are deleted for good, because they could not be restored.
   *
   * @returns whether the rows are kept
   */
  async add(resource: ResourceModel, ids: readonly string[]): Promise<boolean> {
    if (!this.#isSoft) {
      await this.#forgetReferring(resource, ids);
      return false;
    }
    const { store, session, caller, now: at } = this.#context;
    this.#batches += 1;
    const deletion = { deletedWith: this.#deletedWith, order: this.#batches, at };
    await store.deletedRows.keep(session, { resource, tenantId: caller.tenantId, ids, ...deletion });
    return true;
  }

  async #forgetReferring(resource: ResourceModel, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const { store, session, caller } = this.#context;
    const children = resource.children.map((child) => ({ resource: child, attribute: child.parent! }));
    for (const { resource: dependent, attribute: reference } of [...children, ...resource.dependents]) {
      if (!dependent.deletedRows) continue;
      const rows = { resource: dependent, tenantId: caller.tenantId, reference, ids };
      const forgotten = await store.deletedRows.forgetReferring(session, rows);
      if (dependent.files.length > 0)
        for (const text of forgotten.values()) await this.#context.releaseFiles(dependent, JSON.parse(text));
      await this.#forgetReferring(dependent, [...forgotten.keys()]);
    }
  }
}

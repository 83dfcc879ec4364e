// The files of rows, in the transactions of their writes: a write takes the files that it names, and gives up those that
// the row has no longer. What a row has given up is deleted later (`removal.ts`).

import type { Caller } from "../declare/caller.ts";
import type { FileValue } from "../declare/field.ts";
import { isId } from "../lib/id.ts";
import type { Attribute, ResourceModel } from "../model/model.ts";
import type { RowValues } from "../query/write.ts";
import type { Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";
import { attachFile, removeFile } from "./table.ts";

/** Whom a file belongs to until a row has it: the user, or the credential of no user. */
export function uploaderOf({ userId, credentialId }: Caller): string {
  return userId ?? credentialId;
}

export class RowFiles {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Puts the files that values name by their ids into a row.
   *
   * @param current the row that is updated; a file that it has already stays
   * @param onMissing throws for a file that the caller has not uploaded for this field
   * @returns the values with the files as rows have them
   */
  async attach<V extends RowValues>(
    session: Session,
    caller: Caller,
    resource: ResourceModel,
    values: V,
    current: RowValues,
    onMissing: (field: string) => never,
  ): Promise<V> {
    const named = resource.files.filter(({ name }) => typeof values[name] === "string");
    if (named.length === 0) return values;
    const attached: Record<string, FileValue> = {};
    for (const attribute of named) {
      const { name } = attribute;
      const id = String(values[name]);
      const present = current[name] as FileValue | null | undefined;
      const found =
        present?.id === id ? present : await this.#attach(session, caller, resource, attribute, id);
      attached[name] = found ?? onMissing(name);
    }
    return { ...values, ...attached };
  }

  /** Gives up the files that a row had and has no longer. @param next the row after the write; empty if it is deleted */
  async release(
    session: Session,
    { files }: ResourceModel,
    previous: RowValues,
    next: RowValues,
  ): Promise<void> {
    for (const { name } of files) {
      const { id } = (previous[name] ?? {}) as Partial<FileValue>;
      const kept = (next[name] as FileValue | null | undefined)?.id;
      if (id === undefined || id === kept) continue;
      await removeFile(this.#store).run(session, { id, now: new Date().toISOString() });
    }
  }

  #attach(
    session: Session,
    caller: Caller,
    resource: ResourceModel,
    { column }: Attribute,
    id: string,
  ): Promise<FileValue | undefined> {
    if (!isId(id)) return Promise.resolve(undefined);
    return attachFile(this.#store).first(session, {
      ...{ id, tenant: caller.tenantId, uploader: uploaderOf(caller), now: new Date().toISOString() },
      ...{ table: resource.table, column },
    });
  }
}

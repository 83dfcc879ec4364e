// The files of rows and fields that `portico migrate --drop` has deleted.

import { removeOfColumn, removeOfTable } from "../../files/table.ts";
import type { DropRequest } from "../../store/schema/drop.ts";
import type { Store } from "../../store/store.ts";

/** The contents of files that rows have lost are deleted by a server. */
export async function removeDroppedFiles(store: Store, drops: readonly DropRequest[]): Promise<void> {
  const now = new Date().toISOString();
  for (const { table, column } of drops)
    await store.transaction((session) =>
      column === undefined
        ? removeOfTable(store).run(session, { table, now })
        : removeOfColumn(store).run(session, { table, column, now }),
    );
}

// Inserts rows without the engine: many in each transaction, without events.

import { newId } from "../packages/portico/src/lib/id.ts";
import type { ResourceModel } from "../packages/portico/src/model/model.ts";
import type { RowValues } from "../packages/portico/src/query/write.ts";
import type { Store } from "../packages/portico/src/store/store.ts";

const rowsPerTransaction = 1_000;
const reportEvery = 20_000;

/** @param valuesOf the values of a row, apart from its id @returns the ids of the rows */
export async function insertRows(
  store: Store,
  resource: ResourceModel,
  tenantId: string,
  total: number,
  valuesOf: (number: number) => RowValues,
): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < total) {
    const rows = Array.from(
      { length: Math.min(rowsPerTransaction, total - ids.length) },
      (_, index): RowValues => ({ ...valuesOf(ids.length + index), id: newId(resource.idPrefix) }),
    );
    await store.transaction((session) =>
      Promise.all(rows.map((values) => store.writes.insert(session, { resource, tenantId, values }))),
    );
    for (const { id } of rows) ids.push(String(id));
    if (ids.length % reportEvery === 0 || ids.length === total) {
      process.stderr.write(`  ${ids.length} of ${total} ${resource.segment}\n`);
    }
  }
  return ids;
}

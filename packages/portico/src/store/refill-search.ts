// Makes the search words of a table anew, when a declaration begins to search or searches other fields.

import { sql } from "kysely";
import type { ColumnValues, Session } from "./database.ts";
import type { Dialect } from "./dialect.ts";
import { searchColumn, type Table } from "./schema.ts";
import { searchText } from "./search-word.ts";
import { compile, slot } from "./statement.ts";

/** Rows read at a time, so that memory stays small however many there are. */
const batch = 500;

interface Place {
  readonly tenantId: string;
  readonly id: string;
}

interface Words extends Place {
  readonly words: string;
}

/** @param apart runs each batch in a transaction of its own, where there are others to wait for the rows */
export async function refillSearch(
  dialect: Dialect,
  apart: (work: (session: Session) => Promise<void>) => Promise<void>,
  table: Table,
  columns: readonly string[],
): Promise<void> {
  const name = sql.table(table.name);
  const after = sql`(tenant_id, id) > (${slot(({ tenantId }: Place) => tenantId)}, ${slot(({ id }: Place) => id)})`;
  const read = compile<Place>(
    dialect.builder,
    sql`select tenant_id, id, ${sql.join(columns.map((column) => sql.ref(column)))} from ${name} where ${after} order by tenant_id, id limit ${sql.lit(batch)}${dialect.locks.change}`,
  );
  const write = compile<Words>(
    dialect.builder,
    sql`update ${name} set ${sql.ref(searchColumn)} = ${slot(({ words }: Words) => words)}
      where tenant_id = ${slot(({ tenantId }: Words) => tenantId)} and id = ${slot(({ id }: Words) => id)}`,
  );
  let place: Place | undefined = { tenantId: "", id: "" };
  while (place) {
    const from: Place = place;
    await apart(async (session) => {
      const rows: readonly ColumnValues[] = await session.query(read, from);
      place = undefined;
      for (const [tenantId, id, ...values] of rows) {
        // The first two columns are texts.
        place = { tenantId: tenantId as string, id: id as string };
        await session.query(write, { ...place, words: searchText(place.tenantId, values) });
      }
    });
  }
}

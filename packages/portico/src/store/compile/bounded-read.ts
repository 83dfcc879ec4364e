// The statements of `get.ts` and `list.ts` with a bound on the bytes that they return. A page ends before the row that would
// exceed it. PostgreSQL weighs rows by the lengths of their columns first, which it knows without reading the values, so
// that rows far beyond the bound are not made into JSON. SQLite makes row after row, and is stopped.

import { sql } from "kysely";
import { isJson } from "../../declare/field.ts";
import type { Attribute } from "../../model/model.ts";
import { rowSeparator } from "../../query/page.ts";
import type { Read, ReadOne, Selection } from "../../query/read.ts";
import type { ColumnValues, Statement } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { compile, parameter } from "../statement.ts";
import { orderBy } from "./columns.ts";
import { rowMatching } from "./get.ts";
import { isTraversedDescending } from "./index-ranges.ts";
import { type Expression, type ReadInput, tenantOf } from "./input.ts";
import { type ListColumns, needsKeys, orderColumns, pageColumns, rowTextsOf, totalOf } from "./list.ts";
import { rowParts } from "./row.ts";

/** The values of a read, and how many bytes it may return. */
export interface BoundedInput<Plan> extends ReadInput<Plan> {
  readonly maxBytes: number;
}

/**
 * A page of rows on PostgreSQL that ends early where it would be too large. Its columns are `ListColumns`, with all five.
 */
export function compileBoundedList(dialect: Dialect, read: Read): Statement<BoundedInput<Read>> {
  const shown = rowTextsOf(read);
  const parts = rowParts(dialect, "r", read.selection);
  const texts = shown.map(({ name, of }) => {
    return sql`case when r."row weight" <= ${maxBytes()} then ${of(dialect, read, parts)} end as ${sql.ref(name)}`;
  });
  const weighed = sql`(select r.*, ${sumSoFar(dialect, read, weightOf(read))} as "row weight"
    from ${pageColumns(dialect, read)} as r) as r`;
  const built = sql`(select ${sql.join([...texts, ...orderColumns(read)])} from ${weighed}${parts.joins}) as r`;
  // Rows without a text weigh more than is left.
  const bytes = sql`coalesce(octet_length(r."row text"), ${maxBytes()}) + ${sql.lit(rowSeparator.length)}`;
  const measured = sql`(select r.*, ${sumSoFar(dialect, read, bytes)} as "row bytes" from ${built}) as r`;
  const kept = sql`filter (where r."row bytes" <= ${maxBytes()})`;
  const order = orderBy(dialect, "r", read.sort, read.sort.isDescending);
  const [text, keys = sql`null`] = shown.map(({ name }) => {
    const all = dialect.concatenated(sql.ref<string>(`r.${name}`), rowSeparator, order);
    return sql`${all} ${kept}`;
  });
  return compile(
    dialect.builder,
    sql`select ${text}, ${keys}, count(*) ${kept}, ${totalOf(dialect, read)}, count(*) from ${measured}`,
    { tenantOf },
  );
}

/** The rows of a page in the order in which they are found: text, keys and total of each. Whoever reads them may stop. */
export function compileRows(dialect: Dialect, read: Read): Statement<BoundedInput<Read>> {
  const parts = rowParts(dialect, "r", read.selection);
  const [text, keys = sql`null`] = rowTextsOf(read).map(({ of }) => of(dialect, read, parts));
  // Without a limit of its own, this query and the one inside would become one, which makes the JSON of rows before it
  // sorts them.
  const statement = compile<BoundedInput<Read>>(
    dialect.builder,
    sql`select ${text}, ${keys}, ${totalOf(dialect, read)} from ${pageColumns(dialect, read)} as r${parts.joins} limit -1`,
    { tenantOf },
  );
  return { ...statement, endsIfLarge: true };
}

/** Such rows as the columns of a page. */
export function pageOfRows(read: Read, rows: readonly ColumnValues[]): ListColumns {
  const kept = rows.filter(([text]) => text !== null);
  if (isTraversedDescending(read) !== read.sort.isDescending) kept.reverse();
  const joined = (column: number): string => kept.map((row) => row[column]).join(rowSeparator);
  const total = read.page.style === "page" ? ((rows[0]?.[2] ?? 0) as number) : null;
  return [joined(0), needsKeys(read) ? joined(1) : null, kept.length, total, rows.length];
}

/** A row on PostgreSQL as JSON text, or null where the text would be too large. */
export function compileBoundedGet(dialect: Dialect, read: ReadOne): Statement<BoundedInput<ReadOne>> {
  const { json, joins } = rowParts(dialect, "r", read.selection);
  // Without the limit the JSON would be made twice.
  return compile(
    dialect.builder,
    sql`select case when octet_length(r."row text") <= ${maxBytes()} then r."row text" end
      from (select ${json} as "row text" from ${sql.table(read.resource.table)} as r${joins}
        where ${rowMatching(dialect, read)} limit 1) as r`,
    { tenantOf },
  );
}

function maxBytes(): Expression {
  return parameter(({ maxBytes }: BoundedInput<unknown>) => maxBytes);
}

/** The sum of a value over the rows up to this one, in the order in which they are found. */
function sumSoFar(dialect: Dialect, read: Read, value: Expression): Expression {
  const order = orderBy(dialect, "r", read.sort, isTraversedDescending(read));
  return sql`sum(${value}) over (order by ${order} rows unbounded preceding)`;
}

/** The bytes of a row's long values as they are stored: its JSON has as many or more. */
function weightOf({ selection }: Read): Expression {
  const long = shownAttributes(selection).filter(({ field }) => field.kind === "text" || isJson(field));
  const lengths = long.map(({ field, column }) => {
    // Of a text the length before compression is known; `json` has to be read for it.
    const length = sql.raw(isJson(field) ? "pg_column_size" : "octet_length");
    return sql`coalesce(${length}(${sql.ref(`r.${column}`)}), 0)`;
  });
  return lengths.length === 0 ? sql`0` : sql.join(lengths, sql` + `);
}

function shownAttributes({ members }: Selection): Attribute[] {
  return members.flatMap((member) => {
    if (member.kind === "part") return shownAttributes(member.selection);
    return member.kind === "value" ? [member.attribute] : [];
  });
}

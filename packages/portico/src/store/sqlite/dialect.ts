// The SQL dialect of SQLite.

import { type RawBuilder, sql } from "kysely";
import { isJson } from "../../declare/field.ts";
import { parseDecimal } from "../../lib/decimal.ts";
import { type Dialect, decimalTypes, type JsonMember } from "../dialect.ts";
import { searchTable } from "../schema/table.ts";
import { taggedWord } from "../search/index-terms.ts";
import { sqliteBuilder } from "../statement.ts";

export const sqliteDialect: Dialect = {
  name: "sqlite",
  builder: sqliteBuilder,
  // SQLite derives the affinity from these names; the full name tells a migration the type of a column.
  columnType: {
    text: "text",
    integer: "integer",
    number: "real",
    // Units of the last digit. The precision is not part of the type, so that it can change.
    ...decimalTypes((scale) => `decimal_${scale}_integer`),
    boolean: "boolean_integer",
    timestamp: "timestamp_text",
    json: "json_text",
    sequence: "integer",
    tenant: "tenant_integer",
    // Only PostgreSQL has such columns.
    transaction: "integer",
  },
  rowJson: jsonObject,
  rowValue: jsonObject,
  // The result of json_object keeps its JSON subtype through a scalar subquery.
  joinReferenced: (row, from) => ({ value: sql`(select ${row} ${from})`, join: undefined }),
  rowsJson: (row) => sql`json_group_array(${row})`,
  constantJson: (text) => sql.lit(text),
  memberJson: ({ field }, column) => {
    if (field.kind === "boolean") return sql`json(case ${column} when 1 then 'true' when 0 then 'false' end)`;
    if (field.kind === "decimal") return decimalText(column, field.options.scale);
    return isJson(field) ? sql`json(${column})` : column;
  },
  listJson: (values) => sql`json_array(${sql.join(values)})`,
  textsOf: (list) => sql`select value from json_each(${list})`,
  isOneOfList: ({ field }, value, list) => {
    const each = field.kind === "decimal" ? sql`cast(value as integer)` : sql`value`;
    return sql`${value} in (select ${each} from json_each(${list}))`;
  },
  elementsOf: (_kind, list) => sql`json_each(${list})`,
  joinLookedUp: (table, alias, condition) =>
    sql`cross join ${sql.table(table)} as ${sql.ref(alias)} on ${condition}`,
  concatenated: (text, separator, order) =>
    order
      ? sql`group_concat(${text}, ${sql.lit(separator)} order by ${order})`
      : sql`group_concat(${text}, ${sql.lit(separator)})`,
  aggregatesInOrder: true,
  // SQLite sorts nulls as the smallest values.
  order: (column, isDescending) => sql`${column} ${sql.raw(isDescending ? "desc" : "asc")}`,
  isOneOfRows: (value, query) => sql`${value} in (${query})`,
  forEachRow: sql``,
  withoutIndex: (column) => sql`+${column}`,
  // The cross join makes SQLite start with the search index; it would otherwise walk all rows and look up each in the index.
  searched: (resource, searchText) => {
    const index = sql.table(searchTable(resource.table));
    return sql`${index} cross join ${sql.table(resource.table)} as r on ${index} match ${searchText} and r.row_no = ${index}.rowid`;
  },
  searchText: (tenantNo, words) => words.map((word) => `"${taggedWord(tenantNo, word)}"*`).join(" AND "),
  positionIn: (text, part) => sql`instr(${text}, ${part})`,
  // SQLite reads the value of a bare limit parameter when it plans, and so prepares the statement again on every call, which
  // doubles the time of a page.
  limit: (_count, parameter) => sql`cast(${parameter} as integer)`,
  encode: ({ field }, value) => {
    if (value === undefined) return null;
    if (isJson(field)) return JSON.stringify(value);
    if (field.kind === "decimal" && typeof value === "string")
      return parseDecimal(value, field.options.scale);
    return typeof value === "boolean" ? Number(value) : value;
  },
  rowIdColumn: sql`row_no`,
  locks: { update: sql``, delete: sql`` },
  lockTable: () => undefined,
  skipLocked: sql``,
};

/** The text of a number of units: the digits before and after the point, as the division truncates towards zero. */
function decimalText(units: RawBuilder<unknown>, scale: number): RawBuilder<unknown> {
  if (scale === 0) return sql`cast(${units} as text)`;
  const unit = sql.lit(10n ** BigInt(scale));
  const format = sql.lit(`%s%d.%0${scale}d`);
  return sql`case when ${units} is not null then printf(${format}, case when ${units} < 0 then '-' else '' end, abs(${units} / ${unit}), abs(${units} % ${unit})) end`;
}

/** SQLite limits a function to 1,000 arguments. */
const maxArguments = 1_000;

function jsonObject(members: readonly JsonMember[]): RawBuilder<string> {
  if (members.length * 2 <= maxArguments)
    return sql`json_object(${sql.join(members.map(([name, expression]) => sql`${labelOf(name)}, ${expression}`))})`;
  const texts = members.map(
    ([name, expression]) => sql`json_quote(${labelOf(name)}) || ':' || json_quote(${expression})`,
  );
  const chunks = Array.from({ length: Math.ceil(texts.length / chunkSize) }, (_, index) =>
    texts.slice(index * chunkSize, (index + 1) * chunkSize),
  );
  const joined = chunks.map((chunk) => sql`concat_ws(',', ${sql.join(chunk)})`);
  return sql`json('{' || ${sql.join(joined, sql` || ',' || `)} || '}')`;
}

/** The separator is one argument more. */
const chunkSize = maxArguments - 1;

function labelOf(name: JsonMember[0]): RawBuilder<unknown> {
  return typeof name === "string" ? sql.lit(name) : name;
}

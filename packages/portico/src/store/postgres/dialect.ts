// The SQL dialect of PostgreSQL.

import { type RawBuilder, sql } from "kysely";
import { type FieldShape, isJson } from "../../declare/field.ts";
import { maxPrecision } from "../../lib/decimal.ts";
import { type Dialect, decimalTypes, type JsonMember } from "../dialect.ts";
import { taggedText, taggedWord } from "../search/index-terms.ts";
import { postgresBuilder } from "../statement.ts";

/** The words of a row as the search index stores them. @param alias as of `taggedText` */
export function searchVector(alias?: string): RawBuilder<unknown> {
  return sql`array_to_tsvector(string_to_array(${taggedText(alias)}, ' '))`;
}

export const postgresDialect: Dialect = {
  name: "postgres",
  builder: postgresBuilder,
  columnType: {
    // Both databases compare text byte by byte, and so sort alike.
    text: 'text collate "C"',
    integer: "bigint",
    number: "double precision",
    // The precision of the field is not part of the type, so that it can change.
    ...decimalTypes((scale) => `numeric(${maxPrecision}, ${scale})`),
    boolean: "boolean",
    timestamp: "timestamptz(3)",
    // Not jsonb, which does not preserve the order of keys.
    json: "json",
    sequence: "bigint generated always as identity",
    tenant: "integer",
    transaction: "bigint default pg_current_xact_id()::text::bigint",
  },
  rowJson: (members) => rowOfColumns(members, sql<string>`row_to_json(q)::text`, sql`text`),
  rowValue: (members) => rowOfColumns(members, sql`row_to_json(q)`, sql`json`),
  // With a lateral join, a row that many rows refer to is read and serialized once a statement (the plan has a Memoize
  // node). `offset 0` prevents the planner from flattening the subquery. Twice as fast for a page of posts by one author.
  joinReferenced: (row, from, name) => ({
    value: sql.ref(`${name}.j`),
    join: sql` left join lateral (select ${row} as j ${from} offset 0) as ${sql.ref(name)} on true`,
  }),
  rowsJson: (row) => sql`coalesce(json_agg(${row}), '[]'::json)`,
  constantJson: (text) => sql`${sql.lit(text)}::text`,
  memberJson: ({ field }, column) => {
    if (field.kind === "timestamp") return isoTimestamp(column);
    return field.kind === "decimal" ? sql`(${column})::text` : column;
  },
  listJson: (values) => sql`json_build_array(${sql.join(values)})::text`,
  textsOf: (list) => sql`select json_array_elements_text(${list}::json)`,
  isOneOfList: ({ field }, value, list) =>
    sql`${value} = any(array(select json_array_elements_text(${list}::json)${sql.raw(castOfText[field.kind] ?? "")}))`,
  elementsOf: (kind, list) =>
    sql`lateral (select e${sql.raw(castOfText[kind] ?? "")} as value from json_array_elements_text(case json_typeof(${list}) when 'array' then ${list} end) as e where e is not null)`,
  joinLookedUp: (table, alias, condition) =>
    sql`join lateral (select * from ${sql.table(table)} as ${sql.ref(alias)} where ${condition} offset 0) as ${sql.ref(alias)} on true`,
  concatenated: (text, separator, order) =>
    order
      ? sql`string_agg(${text}, ${sql.lit(separator)} order by ${order})`
      : sql`string_agg(${text}, ${sql.lit(separator)})`,
  // It may join by a hash table.
  aggregatesInOrder: false,
  order: (column, isDescending, isNullable) => {
    if (!isNullable) return sql`${column} ${sql.raw(isDescending ? "desc" : "asc")}`;
    return sql`${column} ${sql.raw(isDescending ? "desc nulls last" : "asc nulls first")}`;
  },
  isOneOfRows: (value, query) => sql`${value} = any(array(${query}))`,
  forEachRow: sql` offset 0`,
  // It knows by how few values the rows are found.
  withoutIndex: (column) => column,
  // Without `offset 0`, the planner could choose another index and compute the words of each row. From a scalar subquery it
  // does not learn the words, whose statistics cover all tenants.
  searched: (resource, searchText) =>
    sql`(select r.* from ${sql.table(resource.table)} as r where ${searchVector("r.")} @@ (select ${searchText}::tsquery) offset 0) as r`,
  searchText: (tenantNo, words) => words.map((word) => `'${taggedWord(tenantNo, word)}':*`).join(" & "),
  positionIn: (text, part) => sql`strpos(${text}, ${part})`,
  // For an unknown limit, a generic plan expects a tenth of the rows and prefers a sort to an index.
  limit: (count) => sql.lit(count),
  encode: ({ field }, value) => {
    if (value === undefined) return null;
    if (isJson(field)) return JSON.stringify(value);
    return value;
  },
  rowIdColumn: sql`ctid`,
  // A row may be referenced by new rows while it is updated, but not while it is deleted. If an update took the stronger
  // lock, two transactions that each insert a referring row and then lock the row would deadlock.
  locks: { update: sql` for no key update`, delete: sql` for update` },
  lockTable: (table) => sql`lock table ${sql.table(table)} in share row exclusive mode`,
  skipLocked: sql` for update skip locked`,
};

/**
 * `2026-11-21T09:30:00.500Z`, of a column with milliseconds, in a session whose time zone is UTC. `to_json` leaves out zeros at
 * the end of the fraction, so a microsecond is added, and cut off with the offset. With `to_char` the 40 timestamps of a page
 * of posts took 40 µs, in this way they take 25.
 */
function isoTimestamp(column: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`substr(to_json(${column} + interval '1 microsecond')::text, 2, 23) || 'Z'`;
}

/** Converts a text into a value of a field that is not stored as text. */
const castOfText: Readonly<Partial<Record<FieldShape["kind"], string>>> = {
  integer: "::bigint",
  decimal: "::numeric",
  boolean: "::boolean",
  timestamp: "::timestamptz",
};

/** PostgreSQL limits a query to 1,664 columns. */
const maxColumns = 1_600;

/** `row_to_json` of named columns is a third faster than `json_build_object`, and writes no spaces. */
function rowOfColumns<T>(
  members: readonly JsonMember[],
  build: RawBuilder<T>,
  type: RawBuilder<unknown>,
): RawBuilder<T> {
  if (members.length > maxColumns || members.some(([name]) => typeof name !== "string"))
    return rowOfTexts(members, type);
  const columns = members.map(([name, expression]) => sql`${expression} as ${sql.ref(name as string)}`);
  return sql`(select ${build} from (select ${sql.join(columns)}) q)`;
}

/** The same for names that are too long for a column, and for more members than columns are allowed. */
function rowOfTexts<T>(members: readonly JsonMember[], type: RawBuilder<unknown>): RawBuilder<T> {
  const texts = members.map(([name, expression]) => {
    const label = typeof name === "string" ? sql.lit(name) : name;
    return sql`concat(to_json(${label}::text), ':', coalesce(to_json(${expression})::text, 'null'))`;
  });
  return sql<T>`concat('{', ${joined(texts)}, '}')::${type}`;
}

/** PostgreSQL limits a function to 100 arguments; the separator is one of them. */
const maxTexts = 99;

function joined(texts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  if (texts.length <= maxTexts) return sql`concat_ws(',', ${sql.join(texts)})`;
  const size = Math.max(maxTexts, Math.ceil(texts.length / maxTexts));
  const chunks = Array.from({ length: Math.ceil(texts.length / size) }, (_, index) =>
    texts.slice(index * size, (index + 1) * size),
  );
  return joined(chunks.map(joined));
}

// The statements of `get.ts` and `list.ts` with a bound on the bytes that they return. A page ends before the row that
// would exceed the bound. PostgreSQL first estimates rows by the lengths of their columns, which it knows without reading
// the values, and builds no JSON for rows beyond the bound. SQLite returns row after row until the reader stops.

import { sql } from "kysely";
import { isJson } from "../../declare/field.ts";
import type { Attribute } from "../../model/model.ts";
import { rowSeparator } from "../../query/page.ts";
import type { Read, ReadOne, Selection } from "../../query/read.ts";
import type { ColumnValues, Statement } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { compile, parameter } from "../statement.ts";
import { orderBy, orderColumns } from "./columns.ts";
import { rowMatching } from "./get.ts";
import { isReversed } from "./index-ranges.ts";
import { type Expression, type ReadInput, tenantOf } from "./input.ts";
import { type ListColumns, needsKeys, pageColumns, rowTextsOf, totalOf } from "./list.ts";
import { rowParts } from "./row.ts";
import { searchParts } from "./search.ts";
import type { SearchAccess } from "./search-access.ts";

/** The values of a read, and how many bytes it may return. */
export interface BoundedInput<Plan> extends ReadInput<Plan> {
  readonly maxBytes: number;
}

/** A row that takes more than this part of the bound has no text in the first statement of a page. */
const rowFraction = 4;

/** What the two statements of a page on PostgreSQL have in common. */
interface PageParts {
  /** The `from` item `r` of the page's rows. */
  readonly rows: Expression;
  /** The `from` item `r` of the rows of another one, with the texts of those that meet the condition. */
  readonly built: (from: Expression, isShown: Expression) => Expression;
  /** The joined texts of all built rows, and their joined keys. */
  readonly texts: readonly [text: Expression, keys?: Expression];
  /** The last of `ListColumns`. */
  readonly lastColumns: Expression;
}

function pageParts(dialect: Dialect, read: Read, access: SearchAccess | undefined): PageParts {
  const search = access && searchParts(dialect, read, access);
  const shown = rowTextsOf(read);
  const parts = rowParts(dialect, "r", read.selection);
  const others = [...orderColumns(read), ...(search?.isLong ? [search.isLong] : [])];
  const order = orderBy(dialect, "r", read.sort);
  const [text, keys] = shown.map(({ name }) =>
    dialect.concatenated(sql.ref<string>(`r.${name}`), rowSeparator, order),
  );
  return {
    rows: pageColumns(dialect, read, search),
    built(from, isShown) {
      const texts = shown.map(
        ({ name, of }) => sql`case when ${isShown} then ${of(dialect, read, parts)} end as ${sql.ref(name)}`,
      );
      // Without the offset, PostgreSQL would build the JSON wherever it is used.
      return sql`(select ${sql.join([...texts, ...others])} from ${from}${parts.joins} offset 0) as r`;
    },
    texts: keys ? [text!, keys] : [text!],
    lastColumns: sql`${totalOf(dialect, read)}, count(*)${search ? sql`, ${search.isComplete(sql`count(*)`)}` : sql``}`,
  };
}

/**
 * A page of rows on PostgreSQL, without a text and with 0 as the number of rows if it is too large, or one of its rows
 * takes much of the bound. No running totals are computed, which would take as long as the rest of the page. Its columns
 * are all of `ListColumns`.
 */
export function compileWholeList(
  dialect: Dialect,
  read: Read,
  access?: SearchAccess,
): Statement<BoundedInput<Read>> {
  const { rows, built, texts, lastColumns } = pageParts(dialect, read, access);
  const maxRowBytes = parameter(
    ({ maxBytes }: BoundedInput<Read>) => Math.floor(maxBytes / rowFraction),
    "bytes of a row",
  );
  const [text, keys = sql`null`] = texts;
  const isWhole = sql`count(r."row text") = count(*) and octet_length(${text}) <= ${maxBytes()}`;
  return compile(
    dialect.builder,
    sql`select case when ${isWhole} then ${text} end, ${keys}, case when ${isWhole} then count(*) else 0 end, ${lastColumns}
      from ${built(rows, sql`${weightOf(read)} <= ${maxRowBytes}`)}`,
    { tenantOf },
  );
}

/**
 * A page of rows on PostgreSQL, which ends early if it would be too large. Its columns are all five of `ListColumns`.
 */
export function compileBoundedList(
  dialect: Dialect,
  read: Read,
  access?: SearchAccess,
): Statement<BoundedInput<Read>> {
  const { rows, built, texts, lastColumns } = pageParts(dialect, read, access);
  const weighed = sql`(select r.*, ${runningTotal(dialect, read, weightOf(read))} as "row weight" from ${rows}) as r`;
  // A row without a text is larger than the rest of the bound.
  const bytes = sql`coalesce(octet_length(r."row text"), ${maxBytes()}) + ${sql.lit(rowSeparator.length)}`;
  const measured = sql`(select r.*, ${runningTotal(dialect, read, bytes)} as "row bytes"
    from ${built(weighed, sql`r."row weight" <= ${maxBytes()}`)}) as r`;
  const isWithin = sql`filter (where r."row bytes" <= ${maxBytes()})`;
  const [text, keys = sql`null`] = texts.map((each) => sql`${each!} ${isWithin}`);
  return compile(
    dialect.builder,
    sql`select ${text}, ${keys}, count(*) ${isWithin}, ${lastColumns} from ${measured}`,
    { tenantOf },
  );
}

/** The rows of a page in the order of the index: text, keys and total of each. The reader may stop at any row. */
export function compileRows(
  dialect: Dialect,
  read: Read,
  access?: SearchAccess,
): Statement<BoundedInput<Read>> {
  const search = access && searchParts(dialect, read, access);
  const parts = rowParts(dialect, "r", read.selection);
  const [text, keys = sql`null`] = rowTextsOf(read).map(({ of }) => of(dialect, read, parts));
  // Without its own limit, SQLite would flatten this query and the inner one into one, and build the JSON of rows before
  // sorting them.
  const statement = compile<BoundedInput<Read>>(
    dialect.builder,
    sql`select ${text}, ${keys}, ${totalOf(dialect, read)}${search ? sql`, ${search.isComplete(undefined)}` : sql``} from ${pageColumns(dialect, read, search)}${parts.joins} limit -1`,
    { tenantOf },
  );
  return { ...statement, endsIfLarge: true };
}

/** The rows of `compileRows` as the columns of a page. */
export function pageOfRows(read: Read, rows: readonly ColumnValues[]): ListColumns {
  const whole = rows.filter(([text]) => text !== null);
  if (isReversed(read)) whole.reverse();
  const joined = (column: number): string => whole.map((row) => row[column]).join(rowSeparator);
  const total = read.page.style === "page" ? ((rows[0]?.[2] ?? 0) as number) : null;
  // A search has this column. It is the same for all rows, except for those that were not read.
  const isComplete = rows.reduce<number | undefined>(
    (most, row) => Math.max(most ?? 0, row[3] as number),
    rows[0]?.[3] as number | undefined,
  );
  return [joined(0), needsKeys(read) ? joined(1) : null, whole.length, total, rows.length, isComplete];
}

/** A row on PostgreSQL as JSON text, or null if the text is too large. */
export function compileBoundedGet(dialect: Dialect, read: ReadOne): Statement<BoundedInput<ReadOne>> {
  const { json, joins } = rowParts(dialect, "r", read.selection);
  // Without the limit, PostgreSQL would build the JSON twice.
  return compile(
    dialect.builder,
    sql`select case when octet_length(r."row text") <= ${maxBytes()} then r."row text" end
      from (select ${json} as "row text" from ${sql.table(read.resource.table)} as r${joins}
        where ${rowMatching(dialect, read)} limit 1) as r`,
    { tenantOf },
  );
}

function maxBytes(): Expression {
  return parameter(({ maxBytes }: BoundedInput<unknown>) => maxBytes, "bytes that it may return");
}

/** The running total of a value, in the order of the index. */
function runningTotal(dialect: Dialect, read: Read, value: Expression): Expression {
  const order = orderBy(dialect, "r", read.sort, isReversed(read));
  return sql`sum(${value}) over (order by ${order} rows unbounded preceding)`;
}

/** The stored bytes of a row's long values, a lower bound of the size of its JSON. */
function weightOf({ selection }: Read): Expression {
  const long = shownAttributes(selection).filter(({ field }) => field.kind === "text" || isJson(field));
  const lengths = long.map(({ field, column }) => {
    // The uncompressed length of a text is stored; that of `json` is known only after reading the value.
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

// The JSON of a row as SQL, with the rows nested inside it.

import { type RawBuilder, sql } from "kysely";
import { partSeparator } from "../../query/page.ts";
import type {
  Member,
  SelectedCount,
  SelectedList,
  SelectedRow,
  Selection,
  ShownPart,
} from "../../query/read.ts";
import { maxName } from "../../query/selection.ts";
import type { Dialect, JsonMember } from "../dialect.ts";
import { columnsOf, nextAlias, orderBy, shownValue } from "./columns.ts";
import { conditionsOf } from "./condition.ts";
import { linkedIds } from "./elements.ts";
import {
  type Expression,
  type GetFrom,
  getSelection as getOwnSelection,
  isOfTenant,
  planParameter,
} from "./input.ts";

type GetSelection = GetFrom<Selection>;
type GetMember<Kind extends Member["kind"]> = GetFrom<Extract<Member, { kind: Kind }>>;

/** The JSON of a row, and the joins that it needs in `from`. */
export interface RowParts<Json = unknown> {
  readonly json: RawBuilder<Json>;
  readonly joins: Expression;
}

/** The JSON text of the row `alias` with its nested rows. The texts of several parts are joined by `partSeparator`. */
export function rowParts(dialect: Dialect, alias: string, selection: Selection): RowParts<string> {
  const parts = selection.members.filter((member) => member.kind === "part");
  if (parts.length === 0) return rowText(dialect, alias, selection);
  const texts = parts.map((part, index) => {
    const getSelection: GetSelection = (input) =>
      (getOwnSelection(input).members[index] as ShownPart).selection;
    return rowText(dialect, alias, part.selection, getSelection, `p${index}_`);
  });
  return {
    json: sql<string>`${sql.join(
      texts.map(({ json }) => json),
      sql` || ${sql.lit(partSeparator)} || `,
    )}`,
    joins: sql.join(
      texts.map(({ joins }) => joins),
      sql``,
    ),
  };
}

/** @param prefix for the names of joined subqueries */
function rowText(
  dialect: Dialect,
  alias: string,
  selection: Selection,
  getSelection: GetSelection = getOwnSelection,
  prefix = "",
): RowParts<string> {
  const { members, joins } = membersOf(dialect, alias, selection, getSelection, prefix);
  return { json: dialect.rowJson(members), joins };
}

/** The JSON text of a row without nested rows. Without an alias it is the row that a statement writes, in `returning`. */
export function rowJson(
  dialect: Dialect,
  alias: string | undefined,
  selection: Selection,
): RawBuilder<string> {
  return dialect.rowJson(membersOf(dialect, alias, selection, getOwnSelection).members);
}

/** The same as a JSON value. */
export function rowValue(dialect: Dialect, alias: string, selection: Selection): RawBuilder<unknown> {
  return nestedRow(dialect, alias, selection, getOwnSelection).json;
}

/** The JSON value of a nested row. */
function nestedRow(
  dialect: Dialect,
  alias: string,
  selection: Selection,
  getSelection: GetSelection,
): RowParts {
  const { members, joins } = membersOf(dialect, alias, selection, getSelection);
  return { json: dialect.rowValue(members), joins };
}

type NamedMember = Exclude<Member, ShownPart>;

function membersOf(
  dialect: Dialect,
  alias: string | undefined,
  selection: Selection,
  getSelection: GetSelection,
  prefix = "",
): { members: JsonMember[]; joins: Expression } {
  const column = (name: string): Expression => sql.ref(alias ? `${alias}.${name}` : name);
  const inner = nextAlias(alias);
  const joins: Expression[] = [];
  const expressionOf = (member: NamedMember, index: number): Expression => {
    // A statement is bound to selections of the shape it was compiled from.
    const getMember: GetFrom<never> = (input) => getSelection(input).members[index] as never;
    switch (member.kind) {
      case "value":
        return dialect.memberJson(member.attribute, shownValue(dialect, alias, member.attribute));
      case "constant":
        return member.text === null ? sql`null` : dialect.constantJson(member.text);
      case "row": {
        const id = column(member.reference.column);
        const { value, join } = referencedRow(dialect, member, inner, id, getMember, `${prefix}j${index}`);
        if (join) joins.push(join);
        return value;
      }
      case "list":
        return relatedRows(dialect, member, inner, relationOf(dialect, member, inner, column), getMember);
      case "count":
        return countedRows(dialect, member, inner, column("id"), getMember);
    }
  };
  const nameOf = ({ name }: NamedMember, index: number): JsonMember[0] =>
    name.length <= maxName
      ? name
      : planParameter(
          (input) => (getSelection(input).members[index] as NamedMember).name,
          "name of a member",
        );
  // Parts exist only at the top level, where `rowParts` handles them.
  const members = (selection.members as readonly NamedMember[]).map(
    (member, index): JsonMember => [nameOf(member, index), expressionOf(member, index)],
  );
  return { members, joins: joins.length === 0 ? sql`` : sql.join(joins, sql``) };
}

/** The row that a reference leads to, or null where it does not meet its conditions. */
function referencedRow(
  dialect: Dialect,
  { reference, selection, conditions }: SelectedRow,
  alias: string,
  id: Expression,
  getMember: GetMember<"row">,
  name: string,
): ReturnType<Dialect["joinReferenced"]> {
  const { target } = reference.reference!;
  const row = nestedRow(dialect, alias, selection, (input) => getMember(input).selection);
  const matching = [
    isOfTenant(alias),
    sql`${sql.ref(`${alias}.id`)} = ${id}`,
    ...conditionsOf(dialect, alias, conditions, { getConditions: (input) => getMember(input).conditions }),
  ];
  const from = sql`from ${sql.table(target.table)} as ${sql.ref(alias)}${row.joins} where ${sql.join(matching, sql` and `)}`;
  return dialect.joinReferenced(row.json, from, name);
}

/** The condition that the row `inner` is in a list of the row whose columns `column` returns. */
function relationOf(
  dialect: Dialect,
  { reference }: SelectedList,
  inner: string,
  column: (name: string) => Expression,
): Expression {
  if (!reference.links) return sql`${sql.ref(`${inner}.${reference.column}`)} = ${column("id")}`;
  return dialect.isOneOfRows(sql.ref(`${inner}.id`), linkedIds(dialect, column(reference.column)));
}

/**
 * The list of rows that refer to this one, or that it names. The inner query walks an index and returns columns; the outer query builds
 * their JSON. JSON built in the inner query would be plain text outside: SQLite drops the JSON subtype of values from a
 * subquery with `order by` and `limit`.
 */
function relatedRows(
  dialect: Dialect,
  { resource, selection, conditions, sort, limit }: SelectedList,
  alias: string,
  relation: Expression,
  getMember: GetMember<"list">,
): Expression {
  const row = nestedRow(dialect, alias, selection, (input) => getMember(input).selection);
  const matching = [
    isOfTenant(alias),
    relation,
    ...conditionsOf(dialect, alias, conditions, { getConditions: (input) => getMember(input).conditions }),
  ];
  const order = orderBy(dialect, alias, sort);
  const limitSql = dialect.limit(
    limit,
    planParameter((input) => getMember(input).limit, `rows of ${resource.segment} in a row`),
  );
  return sql`(select ${dialect.rowsJson(row.json)} from (
    select ${sql.join(columnsOf(alias, selection))} from ${sql.table(resource.table)} as ${sql.ref(alias)}
    where ${sql.join(matching, sql` and `)} order by ${order} limit ${limitSql}) as ${sql.ref(alias)}${row.joins})`;
}

/** The number of rows that refer to this one. */
function countedRows(
  dialect: Dialect,
  { count: { resource, reference }, conditions }: SelectedCount,
  alias: string,
  id: Expression,
  getMember: GetMember<"count">,
): Expression {
  const matching = [
    isOfTenant(alias),
    sql`${sql.ref(`${alias}.${reference.column}`)} = ${id}`,
    ...conditionsOf(dialect, alias, conditions, { getConditions: (input) => getMember(input).conditions }),
  ];
  return sql`(select count(*) from ${sql.table(resource.table)} as ${sql.ref(alias)} where ${sql.join(matching, sql` and `)})`;
}

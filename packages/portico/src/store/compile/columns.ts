// The columns of a row: those that its JSON is built from, those that it is sorted by, and statuses computed from them.

import { sql } from "kysely";
import { orderedChoices } from "../../declare/field.ts";
import { constantFill } from "../../model/fill.ts";
import type { Attribute } from "../../model/model.ts";
import type { Member, Read, Selection, Sort } from "../../query/read.ts";
import { choiceRank } from "../choice-rank.ts";
import type { Dialect } from "../dialect.ts";
import { parameter } from "../statement.ts";
import type { Expression } from "./input.ts";

/** The column of an attribute in the row `alias`. A status has no column: it is computed when the statement runs. */
export function attributeValue(
  dialect: Dialect,
  alias: string | undefined,
  { column, statusRules, field }: Attribute,
): Expression {
  const columnOf = (name: string): Expression => sql.ref(alias ? `${alias}.${name}` : name);
  if (!statusRules || field.kind !== "computedStatus") return columnOf(column);
  const cases = statusRules.map(({ status, from, secondsBefore }) => {
    const until = parameter(
      () => dialect.encode(from, new Date(Date.now() + secondsBefore * 1000).toISOString()),
      `when ${from.name} makes it ${status}`,
    );
    return sql`when ${columnOf(from.column)} <= ${until} then ${sql.lit(status)}`;
  });
  return sql`case ${sql.join(cases, sql` `)} else ${sql.lit(field.choices.at(-1))} end`;
}

/** What rows are sorted by for an attribute: its column, or the rank of an ordered choice. */
export function sortedValue(alias: string, { column, field }: Attribute): Expression {
  const choices = orderedChoices(field);
  const value = sql.ref(`${alias}.${column}`);
  return choices ? choiceRank(value, choices) : value;
}

/** A value to compare with `sortedValue`, as a statement binds it. */
export function boundSortValue(dialect: Dialect, attribute: Attribute, value: unknown): unknown {
  const choices = orderedChoices(attribute.field);
  return choices && typeof value === "string" ? choices.indexOf(value) : dialect.encode(attribute, value);
}

/** The value of an attribute in a response. A row of an earlier version that has no value shows the constant `fill`. */
export function shownValue(dialect: Dialect, alias: string | undefined, attribute: Attribute): Expression {
  const value = attributeValue(dialect, alias, attribute);
  const fill = constantFill(attribute);
  return fill === undefined ? value : sql`coalesce(${value}, ${sql.lit(dialect.encode(attribute, fill))})`;
}

/** The columns that the JSON of a row is built from, and the columns of `others`. */
export function columnsOf(
  alias: string | undefined,
  { members }: Selection,
  others: readonly Attribute[] = [],
): Expression[] {
  const needed = members.flatMap(attributesOf);
  const names = new Set(["id", ...[...needed, ...others].map((attribute) => attribute.column)]);
  return [...names].map((name) => sql.ref(alias ? `${alias}.${name}` : name));
}

/** The attributes of a row that a member of its JSON is built from. */
function attributesOf(member: Member): readonly Attribute[] {
  switch (member.kind) {
    case "value":
      return member.attribute.statusRules?.map(({ from }) => from) ?? [member.attribute];
    case "row":
      return [member.reference];
    case "list":
      return member.reference.links ? [member.reference] : [];
    case "part":
      return member.selection.members.flatMap(attributesOf);
    default:
      return [];
  }
}

/** The columns that rows `r` are sorted by. */
export function orderColumns({ sort }: Pick<Read, "sort">): Expression[] {
  const names = new Set([...sortedBy(sort).map(({ column }) => column), "id"]);
  return [...names].map((name) => sql.ref(`r.${name}`));
}

/** The attributes of a sort, without the id that follows. */
export function sortedBy(sort: Sort): Attribute[] {
  return sort.map(({ attribute }) => attribute);
}

/**
 * The order of rows: by the keys of the sort, then by id in the direction of the last one.
 * @param isReversed whether every key is read in the other direction
 * @param isSorted whether the rows are sorted after they were found, and not found along an index in this order
 * @param fixed what has one value in all rows, and is left out
 */
export function orderBy(
  dialect: Dialect,
  alias: string,
  sort: Sort,
  isReversed = false,
  isSorted = false,
  fixed: readonly Attribute[] = [],
): Expression {
  const walked = (value: Expression): Expression => (isSorted ? dialect.withoutIndex(value) : value);
  const terms = sort
    .filter(({ attribute }) => !fixed.includes(attribute))
    .map(({ attribute, isDescending }) =>
      dialect.order(walked(sortedValue(alias, attribute)), isDescending !== isReversed, attribute.isNullable),
    );
  const isIdDescending = sort.at(-1)!.isDescending !== isReversed;
  return sql.join([...terms, dialect.order(walked(sql.ref(`${alias}.id`)), isIdDescending, false)]);
}

/**
 * The alias of a table one level further inside a statement: `r`, `r_0`, `r_1` and so on. Two subqueries at one level
 * may share it, because neither contains the other.
 */
export function nextAlias(alias: string | undefined): string {
  const level = /_(\d+)$/.exec(alias ?? "")?.[1];
  return level === undefined ? "r_0" : `r_${Number(level) + 1}`;
}

// The columns of a row: those that its JSON is built from, those that it is sorted by, and statuses computed from them.

import { sql } from "kysely";
import { constantFill } from "../../model/fill.ts";
import type { Attribute } from "../../model/model.ts";
import type { Member, Selection, Sort } from "../../query/read.ts";
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
    case "part":
      return member.selection.members.flatMap(attributesOf);
    default:
      return [];
  }
}

/** The order of rows: by an attribute, then by id in the same direction. */
export function orderBy(
  dialect: Dialect,
  alias: string,
  { attribute }: Sort,
  isDescending: boolean,
): Expression {
  const column = sql.ref(`${alias}.${attribute.column}`);
  return sql`${dialect.order(column, isDescending, attribute.isNullable)}, ${dialect.order(sql.ref(`${alias}.id`), isDescending, false)}`;
}

/**
 * The alias of a table one level further inside a statement: `r`, `r_0`, `r_1` and so on. Two subqueries at one level
 * may share it, because neither contains the other.
 */
export function nextAlias(alias: string | undefined): string {
  const level = /_(\d+)$/.exec(alias ?? "")?.[1];
  return level === undefined ? "r_0" : `r_${Number(level) + 1}`;
}

// The JSON of a row as SQL, with rows around it inside, and the conditions that rows must meet. Values are
// slots that say where the input of a call holds them.

import { type RawBuilder, sql } from "kysely";
import type { Attribute } from "../declare/model.ts";
import type { Condition, Member, Selection, ShownList, ShownRow, Sort } from "../plan/read.ts";
import type { Dialect } from "./dialect.ts";
import { slot } from "./statement.ts";

/** The values that a compiled read is bound to. */
export interface ReadInput<Plan> {
  readonly tenantId: string;
  readonly read: Plan;
}

export type Expression = RawBuilder<unknown>;

/** Where a call's input holds the list of conditions whose values are bound. */
type ConditionsOfInput = (
  input: ReadInput<{ selection: Selection; conditions: readonly Condition[] }>,
) => readonly Condition[];

export const ownConditions: ConditionsOfInput = ({ read }) => read.conditions;

/** Conditions as SQL: those of `some`, whose values stand at the same places of `all`. */
export function conditionsOf(
  dialect: Dialect,
  alias: string,
  all: readonly Condition[],
  { some = all, held = ownConditions }: { some?: readonly Condition[]; held?: ConditionsOfInput } = {},
): Expression[] {
  return some.map((condition) => {
    const { attribute, operator, values } = condition;
    const bound = values.map((_, index) =>
      boundValue(dialect, attribute, held, all.indexOf(condition), index),
    );
    const column = attributeValue(dialect, alias, attribute);
    if (bound.length === 0) return sql`1 = 0`;
    if (operator !== "in") return sql`${column} ${sql.raw(comparisons[operator])} ${bound[0]}`;
    return bound.length === 1 ? sql`${column} = ${bound[0]}` : sql`${column} in (${sql.join(bound)})`;
  });
}

/** The column of an attribute in the row `alias`, or what a state is worked out from at the moment of the call. */
export function attributeValue(
  dialect: Dialect,
  alias: string | undefined,
  { column, moments, field }: Attribute,
): Expression {
  const columnOf = (name: string): Expression => sql.ref(alias ? `${alias}.${name}` : name);
  if (!moments || field.kind !== "state") return columnOf(column);
  const cases = moments.map(({ state, from, secondsBefore }) => {
    const until = slot(() => dialect.encode(from, new Date(Date.now() + secondsBefore * 1000).toISOString()));
    return sql`when ${columnOf(from.column)} <= ${until} then ${sql.lit(state)}`;
  });
  return sql`case ${sql.join(cases, sql` `)} else ${sql.lit(field.choices.at(-1))} end`;
}

const comparisons = { gte: ">=", gt: ">", lte: "<=", lt: "<" } as const;

export function boundValue(
  dialect: Dialect,
  attribute: Attribute,
  held: ConditionsOfInput,
  place: number,
  index: number,
): Expression {
  return slot((input: Parameters<ConditionsOfInput>[0]) =>
    dialect.encode(attribute, held(input)[place]!.values[index]),
  );
}

/** Where a call's input holds a selection. */
type SelectionOfInput = (input: Parameters<ConditionsOfInput>[0]) => Selection;

const ownSelection: SelectionOfInput = ({ read }) => read.selection;

/** The JSON text of the row `alias` - of the row being written, where there is none - with the rows around it inside. */
export function rowJson(
  dialect: Dialect,
  alias: string | undefined,
  selection: Selection,
  held: SelectionOfInput = ownSelection,
): RawBuilder<string> {
  return dialect.rowJson(membersOf(dialect, alias, selection, held));
}

/** Where a call's input holds a member of some kind. */
type Held<Kind extends Member["kind"]> = (
  input: Parameters<ConditionsOfInput>[0],
) => Extract<Member, { kind: Kind }>;

function membersOf(
  dialect: Dialect,
  alias: string | undefined,
  selection: Selection,
  held: SelectionOfInput,
): (readonly [string, Expression])[] {
  const column = (name: string): Expression => sql.ref(alias ? `${alias}.${name}` : name);
  return selection.members.map((member, place) => {
    // A statement is bound to selections of the shape that it was made from.
    const heldMember = (input: Parameters<ConditionsOfInput>[0]) => held(input).members[place] as never;
    return [member.name, expressionOf(member, heldMember)];
  });

  function expressionOf(member: Member, heldMember: Held<"row"> & Held<"list">): Expression {
    const inner = nextAlias(alias);
    switch (member.kind) {
      case "value":
        return dialect.memberJson(member.attribute, attributeValue(dialect, alias, member.attribute));
      case "constant":
        return dialect.constantJson(member.text);
      case "row":
        return referredRow(dialect, member, inner, column(member.reference.column), heldMember);
      case "list":
        return referringRows(dialect, member, inner, column("id"), heldMember);
    }
  }
}

/** `r`, then `r_0`, `r_1` and so on by level: what is named twice stands in queries beside each other. */
function nextAlias(alias: string | undefined): string {
  const level = /_(\d+)$/.exec(alias ?? "")?.[1];
  return level === undefined ? "r_0" : `r_${Number(level) + 1}`;
}

function referredRow(
  dialect: Dialect,
  { reference, selection, conditions }: ShownRow,
  alias: string,
  id: Expression,
  held: Held<"row">,
): Expression {
  const { target } = reference.reference!;
  const row = dialect.rowValue(membersOf(dialect, alias, selection, (input) => held(input).selection));
  const matching = [
    isOfTenant(alias),
    sql`${sql.ref(`${alias}.id`)} = ${id}`,
    ...conditionsOf(dialect, alias, conditions, { held: (input) => held(input).conditions }),
  ];
  return sql`(select ${row} from ${sql.table(target.table)} as ${sql.ref(alias)} where ${sql.join(matching, sql` and `)})`;
}

/**
 * The inner query walks along an index and answers with columns, the outer one makes their JSON: what SQLite marks as
 * JSON in a query that is ordered and cut would be plain text outside of it.
 */
function referringRows(
  dialect: Dialect,
  { resource, reference, selection, conditions, sort, limit }: ShownList,
  alias: string,
  id: Expression,
  held: Held<"list">,
): Expression {
  const row = dialect.rowValue(membersOf(dialect, alias, selection, (input) => held(input).selection));
  const matching = [
    isOfTenant(alias),
    sql`${sql.ref(`${alias}.${reference.column}`)} = ${id}`,
    ...conditionsOf(dialect, alias, conditions, { held: (input) => held(input).conditions }),
  ];
  const order = orderBy(dialect, alias, sort, sort.isDescending);
  const most = dialect.limit(
    limit,
    slot((input: Parameters<typeof held>[0]) => held(input).limit),
  );
  return sql`(select ${dialect.rowsJson(row)} from (
    select ${sql.join(columnsOf(alias, selection))} from ${sql.table(resource.table)} as ${sql.ref(alias)}
    where ${sql.join(matching, sql` and `)} order by ${order} limit ${most}) as ${sql.ref(alias)})`;
}

function isOfTenant(alias: string): Expression {
  return sql`${sql.ref(`${alias}.tenant_id`)} = ${slot(({ tenantId }: ReadInput<unknown>) => tenantId)}`;
}

/** The order of rows, by an attribute and then by id. */
export function orderBy(
  dialect: Dialect,
  alias: string,
  { attribute }: Sort,
  isDescending: boolean,
): Expression {
  const column = sql.ref(`${alias}.${attribute.column}`);
  return sql`${dialect.order(column, isDescending, attribute.isNullable)}, ${dialect.order(sql.ref(`${alias}.id`), isDescending, false)}`;
}

/** The columns that the JSON of a row needs, and others. */
export function columnsOf(
  alias: string,
  { members }: Selection,
  others: readonly Attribute[] = [],
): Expression[] {
  const needed = members.flatMap((member): readonly Attribute[] => {
    if (member.kind === "value")
      return member.attribute.moments?.map(({ from }) => from) ?? [member.attribute];
    return member.kind === "row" ? [member.reference] : [];
  });
  const names = new Set(["id", ...[...needed, ...others].map((attribute) => attribute.column)]);
  return [...names].map((name) => sql.ref(`${alias}.${name}`));
}

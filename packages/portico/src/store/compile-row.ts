// The JSON of a row as SQL, with rows around it inside, and the conditions that rows must meet. Values are
// slots that say where the input of a call holds them.

import { type RawBuilder, sql } from "kysely";
import type { Attribute } from "../declare/model.ts";
import { partSeparator } from "../plan/page.ts";
import {
  type Comparison,
  type Condition,
  isComparison,
  type Member,
  type ReferenceCondition,
  type Selection,
  type ShownList,
  type ShownPart,
  type ShownRow,
  type Sort,
} from "../plan/read.ts";
import { longestName } from "../plan/selection.ts";
import type { Dialect, JsonMember } from "./dialect.ts";
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
    const place = all.indexOf(condition);
    if (condition.operator !== "is") return comparison(dialect, alias, condition, held, place);
    const known = knownReference(all, condition.attribute);
    const of =
      known === undefined
        ? {
            tenantId: sql.ref(`${alias}.tenant_id`),
            id: sql.ref(`${alias}.${condition.attribute.column}`),
          }
        : {
            tenantId: tenantIdSlot(),
            id: boundValue(dialect, condition.attribute, held, all.indexOf(known), 0),
          };
    return referredMeets(dialect, nextAlias(alias), of, condition, (input) =>
      conditionsAt(held, input, place),
    );
  });
}

/**
 * The comparison that leaves one row for a reference to lead to. What is asked of that row is asked once then, and not
 * for each row that refers to it.
 */
export function knownReference(all: readonly Condition[], attribute: Attribute): Comparison | undefined {
  return all
    .filter(isComparison)
    .find(
      ({ attribute: compared, operator, values }) =>
        compared === attribute && operator === "in" && values.length === 1 && values[0] !== null,
    );
}

function comparison(
  dialect: Dialect,
  alias: string,
  { attribute, operator, values }: Comparison,
  held: ConditionsOfInput,
  place: number,
): Expression {
  const column = attributeValue(dialect, alias, attribute);
  const bound = values.flatMap((value, index) =>
    value === null && operator === "in" ? [] : [boundValue(dialect, attribute, held, place, index)],
  );
  if (operator !== "in") return sql`${column} ${sql.raw(comparisons[operator])} ${bound[0]}`;
  const any = bound.length === 1 ? sql`${column} = ${bound[0]}` : sql`${column} in (${sql.join(bound)})`;
  if (bound.length === values.length) return bound.length === 0 ? sql`1 = 0` : any;
  return bound.length === 0 ? sql`${column} is null` : sql`(${any} or ${column} is null)`;
}

/** Whether there is a row with this id in the resource that a reference leads to, and it meets the conditions. */
function referredMeets(
  dialect: Dialect,
  alias: string,
  { tenantId, id }: { readonly tenantId: Expression; readonly id: Expression },
  { attribute, conditions }: ReferenceCondition,
  held: ConditionsOfInput,
): Expression {
  const matching = [
    sql`${sql.ref(`${alias}.tenant_id`)} = ${tenantId}`,
    sql`${sql.ref(`${alias}.id`)} = ${id}`,
    ...conditionsOf(dialect, alias, conditions, { held }),
  ];
  const { table } = attribute.reference!.target;
  return sql`exists (select 1 from ${sql.table(table)} as ${sql.ref(alias)} where ${sql.join(matching, sql` and `)})`;
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
    dialect.encode(attribute, comparisonAt(held, input, place).values[index]),
  );
}

/** A statement is bound to conditions of the shape that it was made from. */
function comparisonAt(
  held: ConditionsOfInput,
  input: Parameters<ConditionsOfInput>[0],
  place: number,
): Comparison {
  return held(input)[place] as Comparison;
}

function conditionsAt(
  held: ConditionsOfInput,
  input: Parameters<ConditionsOfInput>[0],
  place: number,
): readonly Condition[] {
  return (held(input)[place] as ReferenceCondition).conditions;
}

/** Where a call's input holds a selection. */
type SelectionOfInput = (input: Parameters<ConditionsOfInput>[0]) => Selection;

const ownSelection: SelectionOfInput = ({ read }) => read.selection;

/** The JSON of a row, and what must stand beside the row in `from` for it. */
export interface RowParts<Json = unknown> {
  readonly json: RawBuilder<Json>;
  readonly joins: Expression;
}

/** The JSON text of the row `alias`, with the rows around it inside; where the selection has parts, the text of each. */
export function rowParts(dialect: Dialect, alias: string, selection: Selection): RowParts<string> {
  const parts = selection.members.filter((member) => member.kind === "part");
  if (parts.length === 0) return rowText(dialect, alias, selection);
  const texts = parts.map((part, place) => {
    const held: SelectionOfInput = (input) => (ownSelection(input).members[place] as ShownPart).selection;
    return rowText(dialect, alias, part.selection, held, `p${place}_`);
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

/** @param prefix of the names of what is joined */
function rowText(
  dialect: Dialect,
  alias: string,
  selection: Selection,
  held: SelectionOfInput = ownSelection,
  prefix = "",
): RowParts<string> {
  const { members, joins } = membersOf(dialect, alias, selection, held, prefix);
  return { json: dialect.rowJson(members), joins };
}

/** The same of a row without others inside: of the row being written, where there is no alias. */
export function rowJson(
  dialect: Dialect,
  alias: string | undefined,
  selection: Selection,
): RawBuilder<string> {
  return dialect.rowJson(membersOf(dialect, alias, selection, ownSelection).members);
}

function rowValue(dialect: Dialect, alias: string, selection: Selection, held: SelectionOfInput): RowParts {
  const { members, joins } = membersOf(dialect, alias, selection, held);
  return { json: dialect.rowValue(members), joins };
}

type NamedMember = Exclude<Member, ShownPart>;

/** Where a call's input holds a member of some kind. */
type Held<Kind extends Member["kind"]> = (
  input: Parameters<ConditionsOfInput>[0],
) => Extract<Member, { kind: Kind }>;

function membersOf(
  dialect: Dialect,
  alias: string | undefined,
  selection: Selection,
  held: SelectionOfInput,
  prefix = "",
): { members: JsonMember[]; joins: Expression } {
  const column = (name: string): Expression => sql.ref(alias ? `${alias}.${name}` : name);
  const inner = nextAlias(alias);
  const joins: Expression[] = [];
  const expressionOf = (member: NamedMember, place: number): Expression => {
    // A statement is bound to selections of the shape that it was made from.
    const heldMember = (input: Parameters<ConditionsOfInput>[0]) => held(input).members[place] as never;
    switch (member.kind) {
      case "value":
        return dialect.memberJson(member.attribute, attributeValue(dialect, alias, member.attribute));
      case "constant":
        return dialect.constantJson(member.text);
      case "row": {
        const id = column(member.reference.column);
        const { value, join } = referredRow(dialect, member, inner, id, heldMember, `${prefix}j${place}`);
        if (join) joins.push(join);
        return value;
      }
      case "list":
        return referringRows(dialect, member, inner, column("id"), heldMember);
    }
  };
  const nameOf = ({ name }: NamedMember, place: number): JsonMember[0] =>
    name.length <= longestName
      ? name
      : slot((input: Parameters<ConditionsOfInput>[0]) => (held(input).members[place] as NamedMember).name);
  // Parts stand only at the top, where `rowParts` takes them apart.
  const members = (selection.members as readonly NamedMember[]).map(
    (member, place): JsonMember => [nameOf(member, place), expressionOf(member, place)],
  );
  return { members, joins: joins.length === 0 ? sql`` : sql.join(joins, sql``) };
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
  name: string,
): ReturnType<Dialect["referred"]> {
  const { target } = reference.reference!;
  const row = rowValue(dialect, alias, selection, (input) => held(input).selection);
  const matching = [
    isOfTenant(alias),
    sql`${sql.ref(`${alias}.id`)} = ${id}`,
    ...conditionsOf(dialect, alias, conditions, { held: (input) => held(input).conditions }),
  ];
  const from = sql`from ${sql.table(target.table)} as ${sql.ref(alias)}${row.joins} where ${sql.join(matching, sql` and `)}`;
  return dialect.referred(row.json, from, name);
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
  const row = rowValue(dialect, alias, selection, (input) => held(input).selection);
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
  return sql`(select ${dialect.rowsJson(row.json)} from (
    select ${sql.join(columnsOf(alias, selection))} from ${sql.table(resource.table)} as ${sql.ref(alias)}
    where ${sql.join(matching, sql` and `)} order by ${order} limit ${most}) as ${sql.ref(alias)}${row.joins})`;
}

function isOfTenant(alias: string): Expression {
  return sql`${sql.ref(`${alias}.tenant_id`)} = ${tenantIdSlot()}`;
}

function tenantIdSlot(): Expression {
  return slot(({ tenantId }: ReadInput<unknown>) => tenantId);
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
  const needed = members.flatMap(attributesOf);
  const names = new Set(["id", ...[...needed, ...others].map((attribute) => attribute.column)]);
  return [...names].map((name) => sql.ref(`${alias}.${name}`));
}

/** The attributes of a row that a member of it is made of. */
function attributesOf(member: Member): readonly Attribute[] {
  switch (member.kind) {
    case "value":
      return member.attribute.moments?.map(({ from }) => from) ?? [member.attribute];
    case "row":
      return [member.reference];
    case "part":
      return member.selection.members.flatMap(attributesOf);
    default:
      return [];
  }
}

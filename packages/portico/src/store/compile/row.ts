// The JSON of a row as SQL, with rows around it inside, and the conditions that rows must meet. Values are
// slots that say where the input of a call holds them.

import { type RawBuilder, sql } from "kysely";
import type { Attribute } from "../../model/model.ts";
import { partSeparator } from "../../query/page.ts";
import {
  type Comparison,
  type Condition,
  isComparison,
  type Member,
  type ReferenceCondition,
  type SelectedList,
  type SelectedRow,
  type Selection,
  type ShownPart,
  type Sort,
} from "../../query/read.ts";
import { maxName } from "../../query/selection.ts";
import type { Dialect, JsonMember } from "../dialect.ts";
import { parameter } from "../statement.ts";

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

/** Conditions as SQL: those of `subset`, whose values stand at the same places of `all`. */
export function conditionsOf(
  dialect: Dialect,
  alias: string,
  all: readonly Condition[],
  {
    some: subset = all,
    held: readConditions = ownConditions,
  }: { some?: readonly Condition[]; held?: ConditionsOfInput } = {},
): Expression[] {
  return subset.map((condition) => {
    const index = all.indexOf(condition);
    if (condition.operator !== "is") return comparison(dialect, alias, condition, readConditions, index);
    const known = knownReference(all, condition.attribute);
    const of =
      known === undefined
        ? {
            tenantId: sql.ref(`${alias}.tenant_id`),
            id: sql.ref(`${alias}.${condition.attribute.column}`),
          }
        : {
            tenantId: tenantIdSlot(),
            id: boundValue(dialect, condition.attribute, readConditions, all.indexOf(known), 0),
          };
    return referencedRowMatches(dialect, nextAlias(alias), of, condition, (input) =>
      conditionsAt(readConditions, input, index),
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
  readConditions: ConditionsOfInput,
  index: number,
): Expression {
  const column = attributeValue(dialect, alias, attribute);
  const bound = values.flatMap((value, valueIndex) =>
    value === null && operator === "in"
      ? []
      : [boundValue(dialect, attribute, readConditions, index, valueIndex)],
  );
  if (operator !== "in") return sql`${column} ${sql.raw(comparisons[operator])} ${bound[0]}`;
  const any = bound.length === 1 ? sql`${column} = ${bound[0]}` : sql`${column} in (${sql.join(bound)})`;
  if (bound.length === values.length) return bound.length === 0 ? sql`1 = 0` : any;
  return bound.length === 0 ? sql`${column} is null` : sql`(${any} or ${column} is null)`;
}

/** Whether there is a row with this id in the resource that a reference leads to, and it meets the conditions. */
function referencedRowMatches(
  dialect: Dialect,
  alias: string,
  { tenantId, id }: { readonly tenantId: Expression; readonly id: Expression },
  { attribute, conditions }: ReferenceCondition,
  readConditions: ConditionsOfInput,
): Expression {
  const matching = [
    sql`${sql.ref(`${alias}.tenant_id`)} = ${tenantId}`,
    sql`${sql.ref(`${alias}.id`)} = ${id}`,
    ...conditionsOf(dialect, alias, conditions, { held: readConditions }),
  ];
  const { table } = attribute.reference!.target;
  return sql`exists (select 1 from ${sql.table(table)} as ${sql.ref(alias)} where ${sql.join(matching, sql` and `)})`;
}

/** The column of an attribute in the row `alias`, or what a state is worked out from at the moment of the call. */
export function attributeValue(
  dialect: Dialect,
  alias: string | undefined,
  { column, statusRules, field }: Attribute,
): Expression {
  const columnOf = (name: string): Expression => sql.ref(alias ? `${alias}.${name}` : name);
  if (!statusRules || field.kind !== "computedStatus") return columnOf(column);
  const cases = statusRules.map(({ status, from, secondsBefore }) => {
    const until = parameter(() =>
      dialect.encode(from, new Date(Date.now() + secondsBefore * 1000).toISOString()),
    );
    return sql`when ${columnOf(from.column)} <= ${until} then ${sql.lit(status)}`;
  });
  return sql`case ${sql.join(cases, sql` `)} else ${sql.lit(field.choices.at(-1))} end`;
}

const comparisons = { gte: ">=", gt: ">", lte: "<=", lt: "<" } as const;

export function boundValue(
  dialect: Dialect,
  attribute: Attribute,
  readConditions: ConditionsOfInput,
  index: number,
  valueIndex: number,
): Expression {
  return parameter((input: Parameters<ConditionsOfInput>[0]) =>
    dialect.encode(attribute, comparisonAt(readConditions, input, index).values[valueIndex]),
  );
}

/** A statement is bound to conditions of the shape that it was made from. */
function comparisonAt(
  readConditions: ConditionsOfInput,
  input: Parameters<ConditionsOfInput>[0],
  index: number,
): Comparison {
  return readConditions(input)[index] as Comparison;
}

function conditionsAt(
  readConditions: ConditionsOfInput,
  input: Parameters<ConditionsOfInput>[0],
  index: number,
): readonly Condition[] {
  return (readConditions(input)[index] as ReferenceCondition).conditions;
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
  const texts = parts.map((part, index) => {
    const readConditions: SelectionOfInput = (input) =>
      (ownSelection(input).members[index] as ShownPart).selection;
    return rowText(dialect, alias, part.selection, readConditions, `p${index}_`);
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
  readConditions: SelectionOfInput = ownSelection,
  prefix = "",
): RowParts<string> {
  const { members, joins } = membersOf(dialect, alias, selection, readConditions, prefix);
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

function rowValue(
  dialect: Dialect,
  alias: string,
  selection: Selection,
  readConditions: SelectionOfInput,
): RowParts {
  const { members, joins } = membersOf(dialect, alias, selection, readConditions);
  return { json: dialect.rowValue(members), joins };
}

type NamedMember = Exclude<Member, ShownPart>;

/** Where a call's input holds a member of some kind. */
type ReadMember<Kind extends Member["kind"]> = (
  input: Parameters<ConditionsOfInput>[0],
) => Extract<Member, { kind: Kind }>;

function membersOf(
  dialect: Dialect,
  alias: string | undefined,
  selection: Selection,
  readConditions: SelectionOfInput,
  prefix = "",
): { members: JsonMember[]; joins: Expression } {
  const column = (name: string): Expression => sql.ref(alias ? `${alias}.${name}` : name);
  const inner = nextAlias(alias);
  const joins: Expression[] = [];
  const expressionOf = (member: NamedMember, index: number): Expression => {
    // A statement is bound to selections of the shape that it was made from.
    const readMember = (input: Parameters<ConditionsOfInput>[0]) =>
      readConditions(input).members[index] as never;
    switch (member.kind) {
      case "value":
        return dialect.memberJson(member.attribute, attributeValue(dialect, alias, member.attribute));
      case "constant":
        return dialect.constantJson(member.text);
      case "row": {
        const id = column(member.reference.column);
        const { value, join } = referencedRow(dialect, member, inner, id, readMember, `${prefix}j${index}`);
        if (join) joins.push(join);
        return value;
      }
      case "list":
        return referringRows(dialect, member, inner, column("id"), readMember);
    }
  };
  const nameOf = ({ name }: NamedMember, index: number): JsonMember[0] =>
    name.length <= maxName
      ? name
      : parameter(
          (input: Parameters<ConditionsOfInput>[0]) =>
            (readConditions(input).members[index] as NamedMember).name,
        );
  // Parts stand only at the top, where `rowParts` takes them apart.
  const members = (selection.members as readonly NamedMember[]).map(
    (member, index): JsonMember => [nameOf(member, index), expressionOf(member, index)],
  );
  return { members, joins: joins.length === 0 ? sql`` : sql.join(joins, sql``) };
}

/** `r`, then `r_0`, `r_1` and so on by level: what is named twice stands in queries beside each other. */
function nextAlias(alias: string | undefined): string {
  const level = /_(\d+)$/.exec(alias ?? "")?.[1];
  return level === undefined ? "r_0" : `r_${Number(level) + 1}`;
}

function referencedRow(
  dialect: Dialect,
  { reference, selection, conditions }: SelectedRow,
  alias: string,
  id: Expression,
  readConditions: ReadMember<"row">,
  name: string,
): ReturnType<Dialect["joinReferenced"]> {
  const { target } = reference.reference!;
  const row = rowValue(dialect, alias, selection, (input) => readConditions(input).selection);
  const matching = [
    isOfTenant(alias),
    sql`${sql.ref(`${alias}.id`)} = ${id}`,
    ...conditionsOf(dialect, alias, conditions, { held: (input) => readConditions(input).conditions }),
  ];
  const from = sql`from ${sql.table(target.table)} as ${sql.ref(alias)}${row.joins} where ${sql.join(matching, sql` and `)}`;
  return dialect.joinReferenced(row.json, from, name);
}

/**
 * The inner query walks along an index and answers with columns, the outer one makes their JSON: what SQLite marks as
 * JSON in a query that is ordered and cut would be plain text outside of it.
 */
function referringRows(
  dialect: Dialect,
  { resource, reference, selection, conditions, sort, limit }: SelectedList,
  alias: string,
  id: Expression,
  readConditions: ReadMember<"list">,
): Expression {
  const row = rowValue(dialect, alias, selection, (input) => readConditions(input).selection);
  const matching = [
    isOfTenant(alias),
    sql`${sql.ref(`${alias}.${reference.column}`)} = ${id}`,
    ...conditionsOf(dialect, alias, conditions, { held: (input) => readConditions(input).conditions }),
  ];
  const order = orderBy(dialect, alias, sort, sort.isDescending);
  const most = dialect.limit(
    limit,
    parameter((input: Parameters<typeof readConditions>[0]) => readConditions(input).limit),
  );
  return sql`(select ${dialect.rowsJson(row.json)} from (
    select ${sql.join(columnsOf(alias, selection))} from ${sql.table(resource.table)} as ${sql.ref(alias)}
    where ${sql.join(matching, sql` and `)} order by ${order} limit ${most}) as ${sql.ref(alias)}${row.joins})`;
}

function isOfTenant(alias: string): Expression {
  return sql`${sql.ref(`${alias}.tenant_id`)} = ${tenantIdSlot()}`;
}

function tenantIdSlot(): Expression {
  return parameter(({ tenantId }: ReadInput<unknown>) => tenantId);
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
      return member.attribute.statusRules?.map(({ from }) => from) ?? [member.attribute];
    case "row":
      return [member.reference];
    case "part":
      return member.selection.members.flatMap(attributesOf);
    default:
      return [];
  }
}

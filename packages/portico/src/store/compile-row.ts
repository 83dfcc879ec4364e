// The JSON of a row as SQL, with the rows that it refers to inside, and the conditions that rows must meet. Values are
// slots that say where the input of a call holds them.

import { type RawBuilder, sql } from "kysely";
import type { Attribute } from "../declare/model.ts";
import type { Condition, Nested, Selection } from "../plan/read.ts";
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

/** The JSON of the row `alias` - of the row being written, where there is none - with the rows it refers to inside. */
export function rowJson(
  dialect: Dialect,
  alias: string | undefined,
  selection: Selection,
  held: SelectionOfInput = ownSelection,
): RawBuilder<string> {
  const column = (name: string): Expression => sql.ref(alias ? `${alias}.${name}` : name);
  return dialect.rowJson([
    ...selection.attributes.map(
      (attribute) =>
        [attribute.name, dialect.memberJson(attribute, attributeValue(dialect, alias, attribute))] as const,
    ),
    ...selection.nested.map((nested, place) => {
      const row = referredRow(
        dialect,
        nested,
        `${alias}_${place}`,
        column(nested.reference.column),
        (input) => held(input).nested[place]!,
      );
      return [nested.reference.reference!.name, row] as const;
    }),
  ]);
}

function referredRow(
  dialect: Dialect,
  { reference, selection, conditions }: Nested,
  alias: string,
  id: Expression,
  held: (input: Parameters<ConditionsOfInput>[0]) => Nested,
): Expression {
  const { target } = reference.reference!;
  const row = rowJson(dialect, alias, selection, (input) => held(input).selection);
  const matching = [
    sql`${sql.ref(`${alias}.tenant_id`)} = ${slot(({ tenantId }: ReadInput<unknown>) => tenantId)}`,
    sql`${sql.ref(`${alias}.id`)} = ${id}`,
    ...conditionsOf(dialect, alias, conditions, { held: (input) => held(input).conditions }),
  ];
  return dialect.nestedJson(
    sql`select ${row} from ${sql.table(target.table)} as ${sql.ref(alias)} where ${sql.join(matching, sql` and `)}`,
  );
}

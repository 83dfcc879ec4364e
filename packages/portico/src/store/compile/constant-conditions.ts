// Conditions with their values as constants, for triggers, which have no parameters.

import { type RawBuilder, sql } from "kysely";
import type { Condition } from "../../query/condition.ts";
import type { Dialect } from "../dialect.ts";
import { compile } from "../statement.ts";
import { conditionsOf } from "./condition.ts";

/**
 * Whether the row `alias` meets conditions on its own fields. It is true or false, and never null.
 *
 * @param conditions without related rows
 */
export function constantConditions(
  dialect: Dialect,
  alias: string,
  conditions: readonly Condition[],
): RawBuilder<boolean> {
  if (conditions.length === 0) return sql`true`;
  const { sql: text, bind } = compile<unknown>(
    dialect.builder,
    sql.join(conditionsOf(dialect, alias, conditions), sql` and `),
  );
  const values = bind({ read: { conditions } });
  let bound = 0;
  // Names of columns contain neither of the two forms of a placeholder, and all texts are values.
  const whole = text.replaceAll(/\?|\$\d+/g, () => literal(values[bound++]));
  return sql<boolean>`((${sql.raw(whole)}) is true)`;
}

function literal(value: unknown): string {
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
  return String(value);
}

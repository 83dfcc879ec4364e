// The number of rows that meet conditions.

import { sql } from "kysely";
import type { ResourceModel } from "../../model/model.ts";
import type { Condition } from "../../query/condition.ts";
import type { Statement } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { compile } from "../statement.ts";
import { conditionsOf } from "./condition.ts";
import { isOfTenant, type ReadInput, tenantOf } from "./input.ts";

/** The conditions that rows must meet to be counted. */
export interface MatchingRows {
  readonly conditions: readonly Condition[];
  /** Whether the caller is anonymous: such reads wait apart from those of the tenant's credentials. */
  readonly isAnonymous?: boolean;
}

export function compileCount(
  dialect: Dialect,
  { table }: ResourceModel,
  conditions: readonly Condition[],
): Statement<ReadInput<MatchingRows>> {
  const matching = [isOfTenant("r"), ...conditionsOf(dialect, "r", conditions)];
  return compile(
    dialect.builder,
    sql`select count(*) from ${sql.table(table)} as r where ${sql.join(matching, sql` and `)}`,
    { mayScan: true, tenantOf },
  );
}

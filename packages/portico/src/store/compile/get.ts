// Reads of rows by their ids, as one SQL statement each.

import { sql } from "kysely";
import type { Attribute, ResourceModel } from "../../model/model.ts";
import type { Condition } from "../../query/condition.ts";
import type { ReadOne, Selection } from "../../query/read.ts";
import type { Statement } from "../database.ts";
import type { Dialect, Lock } from "../dialect.ts";
import { compile, parameter } from "../statement.ts";
import { conditionsOf } from "./condition.ts";
import { type Expression, isOfTenant, type ReadInput, tenantOf } from "./input.ts";
import { mayGetScan } from "./may-scan.ts";
import { rowParts } from "./row.ts";

/** The row with an id as JSON text; no row where it does not exist or does not meet the conditions. */
export function compileGet(
  dialect: Dialect,
  read: ReadOne,
  lock: Lock | undefined,
): Statement<ReadInput<ReadOne>> {
  const { resource } = read;
  const { json, joins } = rowParts(dialect, "r", read.selection);
  return compile(
    dialect.builder,
    sql`select ${json} from ${sql.table(resource.table)} as r${joins}
      where ${rowMatching(dialect, read)}${lock ? dialect.locks[lock] : sql``}`,
    { mayScan: !lock && mayGetScan(read), tenantOf },
  );
}

/** Rows to read by their ids. */
export interface ReadMany extends RowsById {
  readonly resource: ResourceModel;
  readonly selection: Selection;
}

/** The ids and the JSON texts of the rows that exist and meet the conditions, locked in the order of `compileFilterIds`. */
export function compileLockMany(
  dialect: Dialect,
  { resource, selection, conditions }: ReadMany,
  lock: Lock,
): Statement<ReadInput<ReadMany>> {
  const { json, joins } = rowParts(dialect, "r", selection);
  const ids = parameter(({ read }: ReadInput<ReadMany>) => JSON.stringify(read.ids));
  const matching = [
    isOfTenant("r"),
    sql`r.id in (${dialect.textsOf(ids)})`,
    ...conditionsOf(dialect, "r", conditions),
  ];
  return compile(
    dialect.builder,
    sql`select r.id, ${json} from ${sql.table(resource.table)} as r${joins}
      where ${sql.join(matching, sql` and `)} order by r.id${dialect.locks[lock]}`,
  );
}

/** The condition that `r` is the row to read. */
export function rowMatching(dialect: Dialect, { conditions }: ReadOne): Expression {
  return sql.join(
    [
      isOfTenant("r"),
      sql`r.id = ${parameter(({ read }: ReadInput<ReadOne>) => read.id, "id")}`,
      ...conditionsOf(dialect, "r", conditions),
    ],
    sql` and `,
  );
}

/** Ids of rows of a resource, and the conditions that the rows must meet. */
export interface RowsById {
  readonly ids: readonly string[];
  readonly conditions: readonly Condition[];
}

/** The ids whose rows meet the conditions. The ids are bound as one JSON list, so one statement serves any number. */
export function compileFilterIds(
  dialect: Dialect,
  resource: ResourceModel,
  conditions: readonly Condition[],
  lock?: Lock,
): Statement<ReadInput<RowsById>> {
  // Locked in the order of the ids, so that two transactions that lock the same rows do not deadlock.
  const locked = lock && sql` order by r.id${dialect.locks[lock]}`;
  return compileFilter(dialect, resource, sql`r.id`, conditions, { end: locked });
}

/** The ids to which rows refer that meet the conditions. */
export function compileFilterReferred(
  dialect: Dialect,
  resource: ResourceModel,
  { column }: Attribute,
  conditions: readonly Condition[],
): Statement<ReadInput<RowsById>> {
  return compileFilter(dialect, resource, sql.ref(`r.${column}`), conditions, { start: sql`distinct ` });
}

function compileFilter(
  dialect: Dialect,
  { table }: ResourceModel,
  id: Expression,
  conditions: readonly Condition[],
  { start = sql``, end = sql`` }: { readonly start?: Expression; readonly end?: Expression | undefined } = {},
): Statement<ReadInput<RowsById>> {
  const ids = parameter(({ read }: ReadInput<RowsById>) => JSON.stringify(read.ids));
  const matching = [
    isOfTenant("r"),
    sql`${id} in (${dialect.textsOf(ids)})`,
    ...conditionsOf(dialect, "r", conditions),
  ];
  return compile(
    dialect.builder,
    sql`select ${start}${id} from ${sql.table(table)} as r where ${sql.join(matching, sql` and `)}${end}`,
  );
}

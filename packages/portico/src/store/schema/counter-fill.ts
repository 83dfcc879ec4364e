// Counts the rows that existed before a counter, in batches that other writes can run between. The triggers exist by then: a
// write that ends before a batch is counted, and one that ends later corrects the number of the batch.

import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { constantConditions } from "../compile/constant-conditions.ts";
import type { Session } from "../database.ts";
import type { Dialect } from "../dialect.ts";
import { compile, parameter } from "../statement.ts";
import type { Counter } from "./counter.ts";
import type { InTransaction, ReportProgress } from "./step.ts";

/** Rows whose numbers one transaction sets, and the pause after it. */
const batchSize = 250;
const pauseMs = 5;

interface Batch {
  readonly after: readonly [tenantNo: number, id: string];
  readonly last: readonly [tenantNo: number, id: string];
}

export async function recount(
  dialect: Dialect,
  session: Session,
  inTransaction: InTransaction,
  counter: Counter,
  report: ReportProgress,
): Promise<void> {
  const target = sql.table(counter.target);
  const total = compile(dialect.builder, sql`select count(*) from ${target}`);
  const bound = (read: (batch: Batch) => Batch["after"]) =>
    sql`(${parameter((batch: Batch) => read(batch)[0])}, ${parameter((batch: Batch) => read(batch)[1])})`;
  const isAfter = sql`(t.tenant_no, t.id) > ${bound(({ after }) => after)}`;
  // Every write of a counted row locks the row that counts it, so none is in progress once the batch is locked.
  const lock = compile<Batch>(
    dialect.builder,
    sql`select t.tenant_no, t.id from ${target} as t where ${isAfter} order by t.tenant_no, t.id limit ${sql.lit(batchSize)}${dialect.locks.update}`,
  );
  const counted = sql`select count(*) from ${sql.table(counter.table)} as r
    where r.tenant_no = t.tenant_no and r.${sql.ref(counter.reference)} = t.id and ${constantConditions(dialect, "r", counter.conditions)}`;
  const count = compile<Batch>(
    dialect.builder,
    sql`update ${target} as t set ${sql.ref(counter.column)} = (${counted})
      where ${isAfter} and (t.tenant_no, t.id) <= ${bound(({ last }) => last)}`,
  );
  const rows = Number((await session.query(total, undefined))[0]![0]);
  let after: Batch["after"] = [0, ""];
  for (let done = 0; ; await sleep(pauseMs)) {
    const from = after;
    const batch = await inTransaction(async (part) => {
      const locked = (await part.query(lock, { after: from, last: from })) as readonly Batch["after"][];
      const last = locked.at(-1);
      // A statement of its own, which sees what was committed before the rows were locked.
      if (last) await part.query(count, { after: from, last });
      return locked;
    });
    after = batch.at(-1) ?? after;
    done += batch.length;
    report(done, Math.max(done, rows));
    if (batch.length < batchSize) return;
  }
}

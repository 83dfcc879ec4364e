// Prints the SQL statement that Portico runs for a GraphQL query with one field at its root, and the values of its
// parameters, as JSON. Runs in a process of its own, started by pgbench.ts.

import { systemCaller } from "../packages/portico/src/auth/system-caller.ts";
import { requestGraphql } from "../packages/portico/src/cli/recorded-request.ts";
import { Engine } from "../packages/portico/src/engine/engine.ts";
import { assemble } from "../packages/portico/src/runtime/compose.ts";
import { openForPlans } from "../packages/portico/src/store/explain/open.ts";

export interface RecordedStatement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

const [tenantId, query] = process.argv.slice(2);
const { model, settings } = await assemble({ folder: process.cwd(), environment: process.env });
const slowReadMs = 1000 * settings.slowReadSeconds;
const { store, database, recorder } = await openForPlans(settings.databaseUrl, { slowReadMs });
try {
  await requestGraphql(new Engine(model, store), settings, systemCaller(model, tenantId!), query!);
  const [read] = recorder.reads;
  const { sql, bind } = read!.statements.quick!;
  const input = { ...read!.input, maxBytes: 0 };
  process.stdout.write(JSON.stringify({ sql, values: bind(input) } satisfies RecordedStatement));
} finally {
  await database.close();
}

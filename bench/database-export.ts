// The limit of an export: how fast the database alone gives the same texts, in megabytes a second. Prints it as JSON. Runs in
// a process of its own, started by exports.ts.

import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import postgres from "postgres";
import { systemCaller } from "../packages/portico/src/auth/system-caller.ts";
import { Engine } from "../packages/portico/src/engine/engine.ts";
import type { StreamRequest } from "../packages/portico/src/engine/row-stream.ts";
import { wholeRow } from "../packages/portico/src/query/selection.ts";
import { assemble, withStore } from "../packages/portico/src/runtime/compose.ts";
import type { Statement } from "../packages/portico/src/store/database.ts";
import type { StreamStatements } from "../packages/portico/src/store/row-stream.ts";
import type { Store } from "../packages/portico/src/store/store.ts";
import { median } from "./median.ts";
import type { RecordedStatement } from "./recorded-statement.ts";

const rounds = 3;
const rowsAtOnce = 500;

const [tenantId = ""] = process.argv.slice(2);
const assembly = await assemble({ folder: process.cwd(), environment: process.env });
const { databaseUrl } = assembly.settings;
const { sql, values } = await withStore(assembly, recordStatement);
const speeds: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  const started = performance.now();
  const bytes = databaseUrl.startsWith("file:") ? readSqlite() : await readPostgres();
  speeds.push(bytes / 1e6 / ((performance.now() - started) / 1000));
}
process.stdout.write(JSON.stringify(median(speeds)));

/** The statement of an export of all posts. */
async function recordStatement(store: Store): Promise<RecordedStatement> {
  let recorded: RecordedStatement | undefined;
  const stream = async <Input>({ rows }: StreamStatements<Input>, input: Input): Promise<never> => {
    const { sql: text, bind }: Statement<Input> = rows;
    recorded = { sql: text, values: bind(input) };
    throw new Error("recorded");
  };
  Object.assign(store.database, { stream });
  const { model } = assembly;
  const resource = model.resource.get("post")!;
  const request: StreamRequest = {
    ...{ resource, selection: wholeRow(resource), conditions: [], words: [], limit: 1_000_000 },
    sort: [{ attribute: resource.attribute.get("id")!, isDescending: false }],
    ...{ after: undefined, isCounted: false, csv: undefined, signal: new AbortController().signal },
  };
  await new Engine(model, store).stream(systemCaller(model, tenantId), request).catch(() => {});
  return recorded!;
}

function readSqlite(): number {
  const database = new DatabaseSync(databaseUrl.slice("file:".length), { readOnly: true });
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  let bytes = 0;
  // With setReturnArrays every row is an array, here of one text.
  const rows = statement.iterate(...(values as SQLInputValue[])) as unknown as Iterable<[string]>;
  for (const [text] of rows) bytes += text.length + 1;
  database.close();
  return bytes;
}

async function readPostgres(): Promise<number> {
  const text = { to: 114, from: [114], serialize: String, parse: (value: string) => value };
  const connection = postgres(databaseUrl, { max: 1, fetch_types: false, types: { json: text } });
  let bytes = 0;
  // The values are those that the statement binds, which the driver can serialize.
  const parameters = values as postgres.ParameterOrJSON<never>[];
  for await (const rows of connection.unsafe(sql, parameters).cursor(rowsAtOnce))
    for (const row of rows) bytes += String(Object.values(row)[0]).length + 1;
  await connection.end();
  return bytes;
}

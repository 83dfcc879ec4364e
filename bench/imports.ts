// Measures an import: the rows in a second, on SQLite beside those of `node:sqlite` alone. On a database of its own, as
// `npm run bench` does, or alone:
//
//   node bench/imports.ts [--only postgres] [--rounds 7]

import { join } from "node:path";
import { runChild } from "./child.ts";
import type { Report } from "./comparison.ts";
import type { Filled } from "./fill.ts";
import { keyHeader } from "./load.ts";
import { median } from "./median.ts";
import { type DatabaseName, type Options, readOptions } from "./options.ts";
import { environmentFor, PorticoServer } from "./portico-server.ts";
import { postOf } from "./post.ts";
import { importLines } from "./table.ts";
import { createWorkspace } from "./workspace.ts";

/** Medians of all rounds. */
export interface MeasuredImports {
  readonly rowsPerSecond: number;
  /** Undefined on PostgreSQL. */
  readonly databaseRowsPerSecond: number | undefined;
}

const rows = 20_000;
const timeoutMs = 5 * 60_000;

export async function measureImports(
  database: DatabaseName,
  { rounds }: Pick<Options, "rounds">,
  report: Report,
): Promise<MeasuredImports> {
  const workspace = await createWorkspace(database);
  try {
    const { databaseUrl } = workspace;
    const run = (program: string, ...words: string[]): Promise<string> =>
      runChild(process.execPath, [join(import.meta.dirname, program), ...words], {
        env: environmentFor(databaseUrl),
        timeoutMs,
      });
    const filled: Filled = JSON.parse(await run("fill.ts", "1000"));
    const headers = keyHeader(filled.key);
    const portico = await PorticoServer.start(databaseUrl, `/posts/${filled.ids[0]}`, headers);
    try {
      const speeds: number[] = [];
      const databaseSpeeds: number[] = [];
      // The first round is not counted: it warms up.
      for (let round = 0; round <= rounds; round += 1) {
        report(`imports: round ${round} of ${rounds}`);
        speeds[round] = await importPosts(portico, headers);
        if (database === "sqlite")
          databaseSpeeds[round] = Number(
            await run("database-import.ts", databaseUrl.slice("file:".length), `${rows}`),
          );
      }
      return {
        rowsPerSecond: median(speeds.slice(1)),
        databaseRowsPerSecond: database === "sqlite" ? median(databaseSpeeds.slice(1)) : undefined,
      };
    } finally {
      await portico.stop();
    }
  } finally {
    await workspace.remove();
  }
}

/** @returns the rows in a second @throws Error if a row is refused */
async function importPosts({ url }: PorticoServer, headers: Record<string, string>): Promise<number> {
  const body = Array.from({ length: rows }, (_, number) => JSON.stringify(postOf(number))).join("\n");
  const started = performance.now();
  const response = await fetch(`${url}/v1/imports/posts`, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/x-ndjson" },
    body,
  });
  const { created } = (await response.json()) as { readonly created?: number };
  if (created !== rows) throw new Error(`the import answered ${response.status} with ${created} rows`);
  return rows / ((performance.now() - started) / 1000);
}

if (import.meta.main) {
  const options = readOptions(process.argv.slice(2));
  if (options) {
    const database = options.only ?? "sqlite";
    const measured = await measureImports(database, options, (line) => process.stderr.write(`${line}\n`));
    process.stdout.write(`${importLines(measured).join("\n")}\n`);
  }
}

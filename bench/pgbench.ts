// The limit of a query on PostgreSQL: pgbench, which sends the statement that Portico runs for it, prepared, and does
// nothing with the result.

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runChild } from "./child.ts";
import type { LoadResult, LoadTool } from "./load.ts";
import type { Opponent } from "./opponent.ts";
import { environmentFor, projectFolder } from "./portico-server.ts";
import { nestedQuery } from "./queries.ts";
import type { RecordedStatement } from "./recorded-statement.ts";
import type { Row } from "./rows.ts";
import type { Workspace } from "./workspace.ts";

const program = join(import.meta.dirname, "recorded-statement.ts");
const timeoutMs = 30_000;
const connections = 16;
const threads = 2;

export class Pgbench implements Opponent {
  readonly title = "pgbench with the same SQL";
  readonly isLimit = true;
  readonly #arguments: readonly string[];

  private constructor(args: readonly string[]) {
    this.#arguments = args;
  }

  /** @returns undefined if pgbench is not installed */
  static async prepare({ databaseUrl, folder }: Workspace, tenantId: string): Promise<Pgbench | undefined> {
    if (spawnSync("pgbench", ["--version"]).error !== undefined) return undefined;
    const output = await runChild(process.execPath, [program, tenantId, nestedQuery.portico], {
      cwd: projectFolder,
      env: environmentFor(databaseUrl),
      timeoutMs,
    });
    const { sql, values }: RecordedStatement = JSON.parse(output);
    // Elsewhere, `:name` would be a variable too.
    if (/[^:]:\w/.test(sql)) throw new Error(`pgbench cannot run ${sql}`);
    const file = join(folder, "nested.sql");
    writeFileSync(file, `${sql.replace(/\$(\d+)/g, ":value$1")};\n`);
    const variables = values.map((value, index) => `--define=value${index + 1}=${value}`);
    return new Pgbench([
      ...["--no-vacuum", "--protocol=prepared", `--file=${file}`, ...variables],
      ...[`--client=${connections}`, `--jobs=${threads}`],
      connectionString(databaseUrl),
    ]);
  }

  isMeasuredOn({ query }: Row): boolean {
    return query === nestedQuery;
  }

  async requireSameResponse(): Promise<void> {}

  async run(_tool: LoadTool, _row: Row, seconds: number): Promise<LoadResult> {
    const output = await runChild("pgbench", [`--time=${seconds}`, ...this.#arguments], {
      timeoutMs: 1000 * seconds + timeoutMs,
    });
    const requestsPerSecond = Number(/^tps = ([\d.]+)/m.exec(output)![1]);
    return { requests: Math.round(requestsPerSecond * seconds), requestsPerSecond, p99Ms: 0 };
  }

  async stop(): Promise<void> {}
}

/** The schema of the bench as an option of the connection, as libpq knows no parameter `search_path`. */
function connectionString(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  const schema = url.searchParams.get("search_path");
  url.searchParams.delete("search_path");
  // libpq decodes %20, and no +.
  return `${url.href}?options=-csearch_path%3D${schema}`;
}

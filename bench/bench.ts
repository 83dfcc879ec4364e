// npm run bench: compares Portico with a bare node:http server in the same run.

import { availableParallelism, cpus } from "node:os";
import { interrupt } from "./child.ts";
import { type Measured, measure } from "./measure.ts";
import { type DatabaseName, help, type Options, readOptions } from "./options.ts";
import { installRivals } from "./rival-install.ts";
import { rivalKinds } from "./rival-kinds.ts";
import { databaseFloorMegabytes, memoryFloorMegabytes, startUpFloorMs, table } from "./table.ts";

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (!options) return print(help.trimEnd());
  const report = (line: string): boolean => process.stderr.write(`${line}\n`);
  const databases = databasesOf(options);
  if (databases.some((database) => needsPackages(database, options))) await installRivals(report);
  const measured: Measured[] = [];
  for (const database of databases) measured.push(await measure(database, options, report));
  const tool = measured[0]!.tool;
  const machine = { cores: availableParallelism(), processor: cpus()[0]?.model ?? "unknown" };
  if (options.isJson) {
    const { seconds, rounds, connections, posts } = options;
    const floors = { startUpFloorMs, memoryFloorMegabytes, databaseFloorMegabytes };
    return print(
      JSON.stringify({
        tool,
        node: process.version,
        ...machine,
        ...{ seconds, rounds, connections, posts },
        ...floors,
        databases: measured,
      }),
    );
  }
  print(
    [
      "",
      `${tool}, ${options.connections} connections; the median of ${options.rounds} rounds of ${options.seconds} s each; ${options.posts.toLocaleString("en")} posts`,
      `node ${process.version}; ${machine.cores} cores, ${machine.processor}`,
      ...measured.flatMap((each) => ["", table(each)]),
    ].join("\n"),
  );
}

/** Whether a server that is measured on the database needs packages of `bench/rivals`. */
function needsPackages(database: DatabaseName, { hasRivals }: Options): boolean {
  return rivalKinds[database].some(
    ({ needsInstallation, floorPercent }) => needsInstallation && (hasRivals || floorPercent !== undefined),
  );
}

function databasesOf({ only }: Options): DatabaseName[] {
  const hasPostgres = Boolean(process.env.BENCH_DATABASE_URL);
  if (only === "postgres" && !hasPostgres)
    throw new Error("BENCH_DATABASE_URL is missing; set it to a PostgreSQL database");
  if (only) return [only];
  return hasPostgres ? ["sqlite", "postgres"] : ["sqlite"];
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

let stoppedBy: NodeJS.Signals | undefined;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    stoppedBy = signal;
    interrupt();
  });
}

try {
  await main();
} catch (error) {
  process.stderr.write(`bench: ${stoppedBy ? `stopped by ${stoppedBy}` : (error as Error).message}\n`);
  process.exitCode = stoppedBy === "SIGINT" ? 130 : 1;
}

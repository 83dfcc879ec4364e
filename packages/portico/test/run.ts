// Runs the tests: all of them, or those whose path contains one of the names that are given as arguments.
//
//   npm test
//   npm test -- posts graphql/
//   npm test -- posts --test-name-pattern "PATCH"

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const words = process.argv.slice(2);
const firstOption = words.findIndex((word) => word.startsWith("-"));
const names = firstOption < 0 ? words : words.slice(0, firstOption);
const options = firstOption < 0 ? [] : words.slice(firstOption);

const all = globSync("packages/*/test/**/*.test.ts").sort();
const unknown = names.filter((name) => !all.some((file) => file.includes(name)));
if (unknown.length > 0) {
  process.stderr.write(`No test file has ${unknown.map((name) => `"${name}"`).join(" or ")} in its path.\n`);
  process.exit(1);
}
const files = names.length === 0 ? all : all.filter((file) => names.some((name) => file.includes(name)));

/** What a file contains that starts processes or a browser. */
const startsProcesses = /PorticoProcess|porticoProcess|serveProcess|OwnPostgres|NpmUser|inChromium/;
/** What else needs a process of its own: to measure time or memory, to change the process, to have hooks of the whole file. */
const needsProcess = /performance\.now|memoryUsage|worker_threads|context\.mock|^(before|after)\(/m;
const maxGroupSize = 8;
const timeLimit = "packages/portico/test/support/time-limit.ts";
/** The files that take longest. They begin first, so that none is left alone at the end. */
const longest =
  /\/(package|docs|crashes|killed-\w+|slow-callers|large-answers|sign-in|people|appearance|passkeys|partial-messages|subscription-ends)\.test\.ts$/;

/**
 * The files of each process. Files that can share one do, as most of a file's time is loading the server. Files that start
 * processes take longest and wait most, so they come first, with the others in between.
 */
function processesFor(files: readonly string[]): string[][] {
  const texts = new Map(files.map((file) => [file, readFileSync(file, "utf8")]));
  const [others = [], first = []] = [false, true].map((isLong) =>
    files.filter((file) => startsProcesses.test(texts.get(file)!) && longest.test(file) === isLong),
  );
  const slow = [...first, ...others];
  const alone = files.filter((file) => !slow.includes(file) && needsProcess.test(texts.get(file)!));
  const shared = files.filter((file) => !slow.includes(file) && !alone.includes(file));
  const count = Math.ceil(shared.length / maxGroupSize);
  const groups = Array.from({ length: count }, (_, index) =>
    shared.filter((_, position) => position % count === index),
  );
  const quick = [...groups, ...alone.map((file) => [file])];
  return Array.from({ length: Math.max(slow.length, quick.length) }, (_, index) => [
    ...slow.slice(index, index + 1).map((file) => [file]),
    ...quick.slice(index, index + 1),
  ]).flat();
}

/** Writes a module for each process, which imports its files. Node runs them in the order of their names. */
function modulesFor(processes: readonly (readonly string[])[], folder: string): string[] {
  return processes.map((files, index) => {
    const module = join(folder, `${String(index).padStart(3, "0")}.mjs`);
    const imports = [timeLimit, ...files].map(
      (file) => `import ${JSON.stringify(pathToFileURL(resolve(file)))};\n`,
    );
    writeFileSync(module, imports.join(""));
    return module;
  });
}

/** Whether a file measures how long others wait while a server has much to do: it runs before the others, on its own. */
const measuresWaiting = (file: string): boolean => file.endsWith("/soak.test.ts");

const folder = mkdtempSync(join(tmpdir(), "portico-tests-"));
// Compiled modules are kept for the next process, which halves the time that loading the server takes.
const environment = { NODE_COMPILE_CACHE: join(tmpdir(), "portico-compile-cache"), ...process.env };
let running: ChildProcess | undefined;
let isStopped = false;
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    isStopped = true;
    running?.kill(signal);
  });

/** @returns the exit code */
async function run(files: readonly string[], concurrency: number): Promise<number> {
  if (files.length === 0 || isStopped) return 0;
  const setup = [
    "--test",
    `--test-concurrency=${concurrency}`,
    "--test-global-setup=packages/portico/test/support/postgres.ts",
  ];
  const modules = modulesFor(processesFor(files), mkdtempSync(join(folder, "run-")));
  running = spawn(process.execPath, [...setup, ...options, ...modules], {
    stdio: "inherit",
    env: environment,
  });
  const [code] = await once(running, "exit");
  return code ?? 1;
}

try {
  const alone = await run(files.filter(measuresWaiting), 1);
  // More than there are processors, as many files mostly wait.
  const others = await run(
    files.filter((file) => !measuresWaiting(file)),
    availableParallelism() + 2,
  );
  process.exitCode = alone || others;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

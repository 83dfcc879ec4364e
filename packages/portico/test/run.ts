// Runs the tests: all of them, or those whose path contains one of the names that are given as arguments.
//
//   npm test
//   npm test -- posts graphql/
//   npm test -- posts --test-name-pattern "PATCH"

import { spawn } from "node:child_process";
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

/**
 * What a file contains that must have a process of its own: it starts processes or a browser, measures time or memory,
 * changes the process, or has hooks of the whole file.
 */
const needsProcess =
  /PorticoProcess|porticoProcess|serveProcess|OwnPostgres|inChromium|performance\.now|memoryUsage|worker_threads|context\.mock|^(before|after)\(/m;
const maxGroupSize = 8;

/** Puts files that can share a process into modules that import them, as most of a file's time is loading the server. */
function group(files: readonly string[], folder: string): string[] {
  const alone = files.filter((file) => needsProcess.test(readFileSync(file, "utf8")));
  const shared = files.filter((file) => !alone.includes(file));
  const count = Math.ceil(shared.length / maxGroupSize);
  const modules = Array.from({ length: count }, (_, index) => {
    const module = join(folder, `group-${index + 1}.mjs`);
    const members = shared.filter((_, position) => position % count === index);
    const imports = members.map((file) => `import ${JSON.stringify(pathToFileURL(resolve(file)))};\n`);
    writeFileSync(module, imports.join(""));
    return module;
  });
  return [...modules, ...alone];
}

const folder = mkdtempSync(join(tmpdir(), "portico-tests-"));
// One more than there are processors, as some files mostly wait.
const concurrency = availableParallelism() + 1;
const setup = [
  "--test",
  `--test-concurrency=${concurrency}`,
  "--test-global-setup=packages/portico/test/support/postgres.ts",
];
// Compiled modules are kept for the next process, which halves the time that loading the server takes.
const environment = { NODE_COMPILE_CACHE: join(tmpdir(), "portico-compile-cache"), ...process.env };
const child = spawn(process.execPath, [...setup, ...options, ...group(files, folder)], {
  stdio: "inherit",
  env: environment,
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
child.on("exit", (code) => {
  rmSync(folder, { recursive: true, force: true });
  process.exitCode = code ?? 1;
});

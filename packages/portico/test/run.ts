// Runs the tests: all of them, or those whose path contains one of the names that are given as arguments.
//
//   npm test
//   npm test -- posts graphql/
//   npm test -- posts --test-name-pattern "PATCH"

import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";

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

// More than there are processors, as some files wait most of the time.
const concurrency = availableParallelism() + 2;
const setup = [
  "--test",
  `--test-concurrency=${concurrency}`,
  "--test-global-setup=packages/portico/test/support/postgres.ts",
];
// Every test file loads the server: compiled modules are kept for the next process, which halves the time it takes.
const environment = { NODE_COMPILE_CACHE: join(tmpdir(), "portico-compile-cache"), ...process.env };
const child = spawn(process.execPath, [...setup, ...options, ...files], {
  stdio: "inherit",
  env: environment,
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
child.on("exit", (code) => {
  process.exitCode = code ?? 1;
});

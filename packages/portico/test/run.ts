// Runs the tests: all of them, or those whose path contains one of the names given.
//
//   npm test
//   npm test -- posts graphql/
//   npm test -- posts --test-name-pattern "PATCH"

import { spawn } from "node:child_process";
import { globSync } from "node:fs";

const given = process.argv.slice(2);
const firstOption = given.findIndex((argument) => argument.startsWith("-"));
const names = firstOption < 0 ? given : given.slice(0, firstOption);
const options = firstOption < 0 ? [] : given.slice(firstOption);

const all = globSync("packages/*/test/**/*.test.ts").sort();
const unknown = names.filter((name) => !all.some((file) => file.includes(name)));
if (unknown.length > 0) {
  process.stderr.write(`No test file has ${unknown.map((name) => `"${name}"`).join(" or ")} in its path.\n`);
  process.exit(1);
}
const files = names.length === 0 ? all : all.filter((file) => names.some((name) => file.includes(name)));

const setup = [
  "--test",
  "--test-concurrency=2",
  "--test-global-setup=packages/portico/test/support/postgres.ts",
];
const child = spawn(process.execPath, [...setup, ...options, ...files], { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
child.on("exit", (code) => {
  process.exitCode = code ?? 1;
});

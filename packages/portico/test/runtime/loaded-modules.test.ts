// The modules that a command or a server loads, and how. A server loads hundreds more than a command.

import { deepEqual, equal, match, notEqual, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeWorkspace, PorticoProcess, program, projectFolder } from "../support/server.ts";

const packageFolder = join(projectFolder, "packages/portico");

test("a command on SQLite loads no HTTP server, logger, GraphQL, authorization server, writer or PostgreSQL", async (context) => {
  const workspace = await makeWorkspace("sqlite");
  context.after(() => workspace.remove());
  const list = `${workspace.folder}/loaded`;
  const hook = join(packageFolder, "test/support/list-modules.mjs");
  const command = join(packageFolder, "bin/portico.js");
  const run = (...words: readonly string[]): string =>
    execFileSync(process.execPath, ["--import", hook, command, ...words], {
      cwd: join(packageFolder, "test/fixtures/club"),
      env: {
        ...process.env,
        DATABASE_URL: workspace.databaseUrl,
        PORTICO_MODE: "sandbox",
        LOADED_MODULES: list,
      },
      encoding: "utf8",
    });
  run("migrate");
  const ofPostgres = /node_modules\/postgres\/|src\/store\/postgres\//;
  deepEqual(
    readFileSync(list, "utf8")
      .split("\n")
      .filter((url) => ofPostgres.test(url)),
    [],
  );
  rmSync(list);
  run("tenant", "list");
  const loaded = readFileSync(list, "utf8").split("\n");
  ok(loaded.some((url) => url.endsWith("/src/cli/commands/tenant.ts")));
  const isForServer =
    /node_modules\/(pino|fastify|graphql|graphql-yoga|oidc-provider|ws|nodemailer|jose)\/|src\/(jobs\/write-behind|mail\/(outbox|sender|transport)|http\/(upgrade|logging\/request-log))\.ts/;
  deepEqual(
    loaded.filter((url) => isForServer.test(url)),
    [],
  );
});

test("a server on SQLite loads what describes the API, tools, Node's fetch, the sender of mails and the authorization server only when they are needed", async (context) => {
  const workspace = await makeWorkspace("sqlite");
  context.after(() => workspace.remove());
  const list = `${workspace.folder}/loaded`;
  const hook = join(packageFolder, "test/support/list-modules.mjs");
  const server = await PorticoProcess.start(workspace, {
    env: { NODE_OPTIONS: `--import ${hook}`, LOADED_MODULES: list },
  });
  context.after(() => server.stop());
  const isLoaded = (part: RegExp): boolean =>
    readFileSync(list, "utf8")
      .split("\n")
      .some((url) => part.test(url));
  equal((await server.request("/posts")).status, 200);
  ok(isLoaded(/src\/openapi\/serve\.ts$/));
  ok(!isLoaded(/src\/openapi\/describe-api\.ts$|src\/mcp\/tools\.ts$|src\/reference-pages\/pages\.ts$/));
  ok(!isLoaded(/node_modules\/(oidc-provider|nodemailer|postgres|@modelcontextprotocol)\//));
  equal((await server.request("/openapi.json")).status, 200);
  ok(isLoaded(/src\/openapi\/describe-api\.ts$/));
  await server.stop();
  ok(isLoaded(/^NativeModule http$/));
  ok(!isLoaded(/^NativeModule internal\/deps\/undici\/undici$/));
});

test("V8 takes the compiled modules of Node with the options in the first line of the program", () => {
  const { first, later } = optionsOfProgram();
  const tag = (...words: readonly string[]): string =>
    execFileSync(process.execPath, [...words, "-p", "v8.cachedDataVersionTag()"], { encoding: "utf8" });
  equal(tag(...first), tag());
  notEqual(tag(...later), tag());
});

test("V8 knows every option that the program sets", () => {
  const { first, later } = optionsOfProgram();
  equal(first.length, 2);
  equal(later.length, 3);
  const known = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });
  for (const option of [...first, ...later]) {
    const [, name] = /^--(?:no-)?([^=]+)/.exec(option)!;
    match(known, new RegExp(`^  --${name} `, "m"));
  }
});

/** The options of V8 in the first line of the program, and those that it sets once everything is loaded. */
function optionsOfProgram(): { readonly first: readonly string[]; readonly later: readonly string[] } {
  const source = readFileSync(program, "utf8");
  const [, ...first] = /node( --\S+)+$/.exec(source.split("\n")[0]!)![0].split(" ");
  return {
    first,
    later: [...source.matchAll(/^setFlagsFromString\("(\S+)"\)/gm)].map(([, option]) => option!),
  };
}

// Code of declarations that throws: the sandbox tells its developer what and where, live mode tells callers nothing, and
// the log has it in full.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openReader } from "../../support/database-reader.ts";
import { expectAnswer, runCommand, serveProcess } from "../../support/scenario.ts";
import {
  type Answer,
  makeWorkspace,
  onEachDatabase,
  PorticoProcess,
  type Workspace,
} from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/faulty");
const silent = /^Something went wrong on our side\.$/;

async function logged(portico: PorticoProcess, pattern: RegExp): Promise<void> {
  // Lines are written together, a quarter of a second later at most.
  for (let tries = 0; tries < 100 && !pattern.test(portico.output); tries += 1) await sleep(20);
  assert.match(portico.output, pattern);
}

onEachDatabase("code of declarations that throws, in the sandbox", (database) => {
  const server = serveProcess(database, { cwd });
  const create = (name: string): Promise<Answer> => server.request("/machines", { body: { name } });

  const failures: readonly (readonly [what: string, name: string, message: RegExp])[] = [
    [
      "a hook",
      "sync",
      /^In the hook before\.create of machine: TypeError: with sk_test_\[redacted\], and second line, at portico\.config\.ts:\d+:\d+\. This explanation appears only in the sandbox\.$/,
    ],
    ["a hook that throws no error", "text", /^In the hook before\.create of machine: a text alone\. This/],
    [
      "a function of JavaScript that a hook calls",
      "parse",
      /SyntaxError: .*, at portico\.config\.ts:\d+:\d+\. /,
    ],
    [
      "a hook that gives faulty values",
      "values",
      /^a hook of machine returned invalid values: `label` must have at most 100 characters\. This/,
    ],
    ["a default", "default", /^In the default of the field label of machine: RangeError: no label/],
    ["a check", "check", /^In validate of machine: Error: unchecked, at /],
  ];
  for (const [what, name, message] of failures) {
    test(`${what} is told in the one error shape`, async () => {
      const answer = await create(name);
      expectAnswer(answer, { status: 500, code: "internal_error", message, details: [] });
    });
  }

  test("an asynchronous hook is told, and a long message is cut", async () => {
    const { message } = (await create("async")).body.error;
    assert.match(message, /^In the hook after\.create of machine: Error: xy+, at portico\.config\.ts:/);
    assert.ok(message.length < 700);
    await logged(server.portico, /y{2000}/);
  });

  test("an action is told", async () => {
    const { id } = (await create("fine")).body;
    expectAnswer(await server.request(`/machines/${id}/starts`, { method: "POST" }), {
      status: 500,
      message: /^In the action starts of machine: Error: does not start, at portico\.config\.ts/,
    });
  });

  test("GraphQL tells the same", async () => {
    const query = 'mutation { createMachine(input: { name: "sync" }) { id } }';
    const { body } = await server.request("/graphql", { body: { query } });
    assert.match(body.errors[0].message, /^In the hook before\.create of machine: TypeError: /);
    assert.equal(body.errors[0].extensions.code, "internal_error");
  });

  test("an error of the API passes as it is", async () => {
    expectAnswer(await create("problem"), { status: 409, code: "conflict", message: /^As declared\.$/ });
  });

  test("an error of the database that passes through a hook is not told", async () => {
    const reader = openReader(server.workspace.databaseUrl);
    await reader.write("drop table ledgers");
    await reader.close();
    const answer = await create("database");
    // The table may have gone with a migration to a newer version of the declarations.
    expectAnswer(answer, { status: 503, code: "unavailable" });
    assert.doesNotMatch(answer.text, /ledgers/);
    await logged(server.portico, /ledgers[^\n]*"msg":"request failed"/);
  });
});

onEachDatabase("code of declarations that throws, in live mode", (database) => {
  const env = { PORTICO_MODE: "live", PORTICO_SECRET: "s".repeat(32) };
  let workspace: Workspace;
  let portico: PorticoProcess;
  let id: string;
  before(async () => {
    workspace = await makeWorkspace(database);
    await runCommand(workspace, ["migrate"], { env, cwd });
    const { tenant } = await runCommand(workspace, ["tenant", "create", "--name", "Live"], { env, cwd });
    const scopes = "machines:read,machines:write,ledgers:read";
    const words = ["key", "create", "--name", "K", "--scopes", scopes, "--tenant", tenant.id];
    const { key } = await runCommand(workspace, words, { env, cwd });
    portico = await PorticoProcess.start(workspace, { env, cwd, key });
    id = (await portico.request("/machines", { body: { name: "fine" } })).body.id;
  });
  after(async () => {
    await portico?.stop();
    await workspace?.remove();
  });

  for (const name of ["sync", "text", "parse", "values", "default", "check", "async"]) {
    test(`nothing is told of '${name}'`, async () => {
      const answer = await portico.request("/machines", { body: { name } });
      expectAnswer(answer, { status: 500, code: "internal_error", message: silent, details: [] });
    });
  }

  test("nothing is told of an action, nor by GraphQL", async () => {
    const answer = await portico.request(`/machines/${id}/starts`, { method: "POST" });
    expectAnswer(answer, { status: 500, code: "internal_error", message: silent });
    const query = 'mutation { createMachine(input: { name: "sync" }) { id } }';
    const { body } = await portico.request("/graphql", { body: { query } });
    assert.match(body.errors[0].message, silent);
  });

  test("the log tells what was thrown, with its stack and without credentials", async () => {
    await logged(portico, /unchecked[\s\S]*portico\.config\.ts/);
    assert.match(portico.output, /with sk_test_\[redacted\]/);
    assert.doesNotMatch(portico.output, /sk_test_inside/);
  });
});

// Declared code that throws: the sandbox reports to its developer what failed and where, live mode reports nothing,
// and the log has all of it.

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
  // Log lines are buffered for at most a quarter of a second.
  for (let tries = 0; tries < 100 && !pattern.test(portico.output); tries += 1) await sleep(20);
  assert.match(portico.output, pattern);
}

onEachDatabase("declared code that throws, in the sandbox", (database) => {
  const server = serveProcess(database, { cwd });
  const create = (name: string): Promise<Answer> => server.request("/machines", { body: { name } });

  const failures: readonly (readonly [what: string, name: string, message: RegExp])[] = [
    [
      "a hook",
      "sync",
      /^In the hook before\.create of machine: TypeError: with sk_test_\[redacted\], and second line, at portico\.config\.ts:\d+:\d+\. This explanation appears only in the sandbox\.$/,
    ],
    ["a hook that throws a text", "text", /^In the hook before\.create of machine: a text alone\. This/],
    [
      "a JavaScript function that a hook calls",
      "parse",
      /SyntaxError: .*, at portico\.config\.ts:\d+:\d+\. /,
    ],
    [
      "a hook that returns invalid values",
      "values",
      /^a hook of machine returned invalid values: `label` must have at most 100 characters\. This/,
    ],
    ["a default", "default", /^In the default of the field label of machine: RangeError: no label/],
    ["a validate function", "check", /^In validate of machine: Error: unchecked, at /],
  ];
  for (const [what, name, message] of failures) {
    test(`${what} is reported in the one error shape`, async () => {
      const answer = await create(name);
      expectAnswer(answer, { status: 500, code: "internal_error", message, details: [] });
    });
  }

  test("a hook that leaves a required field without a value is reported", async () => {
    expectAnswer(await server.request("/gauges", { body: { name: "set" } }), { status: 201 });
    expectAnswer(await server.request("/gauges", { body: { name: "unset" } }), {
      status: 500,
      code: "internal_error",
      message:
        /^resource gauge, field serial: a new row has no value, because hooks\.before\.create sets none\. This/,
    });
  });

  test("an asynchronous hook is reported, and a long message is shortened", async () => {
    const { message } = (await create("async")).body.error;
    assert.match(message, /^In the hook after\.create of machine: Error: xy+, at portico\.config\.ts:/);
    assert.ok(message.length < 700);
    await logged(server.portico, /y{2000}/);
  });

  test("an action is reported", async () => {
    const { id } = (await create("fine")).body;
    expectAnswer(await server.request(`/machines/${id}/starts`, { method: "POST" }), {
      status: 500,
      message: /^In the action starts of machine: Error: does not start, at portico\.config\.ts/,
    });
    expectAnswer(await server.request(`/machines/${id}/stops`, { method: "POST" }), {
      status: 500,
      message: /^the action stops of machine returned no row; return one, with its id \(machine_\.\.\.\)\./,
    });
  });

  test("GraphQL reports the same", async () => {
    const query = 'mutation { createMachine(input: { name: "sync" }) { id } }';
    const { body } = await server.request("/graphql", { body: { query } });
    assert.match(body.errors[0].message, /^In the hook before\.create of machine: TypeError: /);
    assert.equal(body.errors[0].extensions.code, "internal_error");
  });

  test("an API error is returned unchanged", async () => {
    expectAnswer(await create("problem"), { status: 409, code: "conflict", message: /^As declared\.$/ });
  });

  test("a database error that passes through a hook is not reported", async () => {
    const reader = openReader(server.workspace.databaseUrl);
    await reader.write("drop table ledgers");
    await reader.close();
    const answer = await create("database");
    // A migration to a newer version of the declarations may have dropped the table.
    expectAnswer(answer, { status: 503, code: "unavailable" });
    assert.doesNotMatch(answer.text, /ledgers/);
    await logged(server.portico, /ledgers[^\n]*"msg":"request failed"/);
  });
});

onEachDatabase("declared code that throws, in live mode", (database) => {
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
    test(`nothing is reported about '${name}'`, async () => {
      const answer = await portico.request("/machines", { body: { name } });
      expectAnswer(answer, { status: 500, code: "internal_error", message: silent, details: [] });
    });
  }

  test("nothing is reported about an action, nor by GraphQL", async () => {
    const answer = await portico.request(`/machines/${id}/starts`, { method: "POST" });
    expectAnswer(answer, { status: 500, code: "internal_error", message: silent });
    const query = 'mutation { createMachine(input: { name: "sync" }) { id } }';
    const { body } = await portico.request("/graphql", { body: { query } });
    assert.match(body.errors[0].message, silent);
  });

  test("the log has the error, with its stack and without credentials", async () => {
    await logged(portico, /unchecked[\s\S]*portico\.config\.ts/);
    assert.match(portico.output, /with sk_test_\[redacted\]/);
    assert.doesNotMatch(portico.output, /sk_test_inside/);
  });
});

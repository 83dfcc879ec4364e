// Unhandled failures in code that the server runs but did not write: a rejection does not stop the server, an
// exception shuts it down in order.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  makeWorkspace,
  onEachDatabase,
  PorticoProcess,
  projectFolder,
  type Workspace,
} from "../../support/server.ts";

const cwd = `${projectFolder}/packages/portico/test/fixtures/rejecting`;

function linesOf({ output }: PorticoProcess, message: string): { level: number; err: { stack: string } }[] {
  const lines = output.split("\n").filter((line) => line.includes(`"msg":"${message}"`));
  return lines.map((line) => JSON.parse(line));
}

/** Log lines are written a quarter of a second later. */
async function until(isReached: () => boolean): Promise<void> {
  for (let attempt = 0; !isReached() && attempt < 200; attempt += 1) await sleep(50);
  assert.ok(isReached());
}

onEachDatabase("unhandled failures", (database) => {
  let workspace: Workspace;
  let server: PorticoProcess;
  before(async () => {
    workspace = await makeWorkspace(database);
    server = await PorticoProcess.start(workspace, { cwd });
  });
  after(async () => {
    await server?.stop();
    await workspace?.remove();
  });
  const create = (name: string) => server.request("/tasks", { body: { name } });

  test("a rejection is logged with its stack, and the server continues", async () => {
    assert.equal((await create("reject")).status, 201);
    assert.equal((await create("reject with anything")).status, 201);
    await until(() => linesOf(server, "unhandled rejection").length === 2);
    const [first, second] = linesOf(server, "unhandled rejection");
    assert.match(first!.err.stack, /^TypeError: left behind\n +at .*portico\.config\.ts/);
    assert.match(second!.err.stack, /toString: 1/);
    assert.equal((await create("next")).status, 201);
  });

  test("ten rejections a minute are logged", async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => create("reject")));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
    await until(() => linesOf(server, "unhandled rejection").length === 10);
    assert.equal((await create("next")).status, 201);
    assert.equal(linesOf(server, "unhandled rejection").length, 10);
  });

  test("an uncaught exception shuts the process down in order, with exit code 1", async () => {
    assert.equal((await create("throw")).status, 201);
    assert.equal(await server.ended(), 1);
    const [line] = linesOf(server, "uncaught exception: stopping");
    assert.match(line!.err.stack, /^RangeError: thrown later\n +at .*portico\.config\.ts/);
    assert.match(server.output, /"msg":"stopped"/);
  });
});

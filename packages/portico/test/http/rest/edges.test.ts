// Unusual but valid declarations, on both databases alike.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { serveProcess } from "../../support/scenario.ts";
import {
  makeWorkspace,
  onEachDatabase,
  PorticoProcess,
  porticoProcess,
  projectFolder,
} from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/circle");

onEachDatabase("unusual declarations", (database) => {
  const server = serveProcess(database, { cwd });

  test("two resources may refer to each other", async () => {
    const knight = await server.create("/knights", { name: "Lancelot" });
    const squire = await server.create("/squires", { name: "Bedwyr", knightId: knight.id });
    const changed = await server.request(`/knights/${knight.id}`, {
      method: "PATCH",
      body: { squireId: squire.id },
    });
    assert.equal(changed.body.squireId, squire.id);
  });

  test("a policy without any value allows neither reading nor creating", async () => {
    assert.deepEqual((await server.request("/grails")).body.data, []);
    assert.equal((await server.request("/grails/grail_01k7yjkgxmfpnb6ct1myay60e6")).status, 404);
    assert.equal((await server.request("/grails", { body: { name: "Holy" } })).status, 403);
  });

  for (const kind of ["text", "timestamp", "choice", "unknown"]) {
    test(`a hook that returns an invalid ${kind} writes nothing`, async () => {
      const answer = await server.request("/omens", { body: { kind } });
      assert.equal(answer.status, 500);
      assert.equal(answer.body.error.code, "internal_error");
    });
  }

  test("the log contains the invalid value of a hook", async () => {
    const wrong = /a hook of omen returned invalid values: `sign` must have at most 5 characters/;
    // Log lines are buffered for at most a quarter of a second.
    for (let tries = 0; tries < 100 && !wrong.test(server.portico.output); tries += 1) await sleep(20);
    assert.match(server.portico.output, wrong);
  });

  test("a timestamp that a hook returns is stored in UTC", async () => {
    assert.equal((await server.create("/omens", { kind: "zone" })).at, "2026-12-31T19:00:00.000Z");
    assert.equal((await server.request("/omens")).body.data.length, 1);
  });

  test("a hook may continue after an operation that failed", async () => {
    await server.create("/quests", { name: "Grail" });
    const { body } = await server.request("/knights?limit=100");
    const names = body.data.map(({ name }: { name: string }) => name);
    assert.ok(names.includes("Galahad"));
    assert.ok(!names.includes("Bors"));
  });

  test("a cursor with appended characters is refused", async () => {
    const { body } = await server.request("/knights?limit=1");
    const payload = Buffer.from(body.pagination.nextCursor, "base64url").toString();
    for (const altered of [payload.replace("{", '{"evil":1,'), `${payload} `, payload.replace(",", ", ")]) {
      const token = Buffer.from(altered).toString("base64url");
      const answer = await server.request(`/knights?limit=1&cursor=${token}`);
      assert.equal(answer.body.error?.code, "invalid_cursor", altered);
    }
  });

  test("a first start with an invalid seed reports it, exits, and may be repeated", async () => {
    const workspace = await makeWorkspace(database);
    const folder = mkdtempSync(join(workspace.folder, "project-"));
    symlinkSync(join(projectFolder, "node_modules"), join(folder, "node_modules"));
    const write = (title: string): void =>
      writeFileSync(
        join(folder, "portico.config.ts"),
        `import { app, resource, text } from "portico";
         const notes = resource("note", { fields: { title: text({ max: 5 }) } });
         const seed = async (rows) => { await rows.create(notes, { title: "${title}" }); };
         export default app({ name: "Notes", resources: [notes], seed });`,
      );
    try {
      write("too long");
      const failed = await porticoProcess(workspace, ["serve"], { cwd: folder, env: { PORT: "0" } });
      assert.equal(failed.code, 1);
      assert.match(
        failed.stderr,
        /^portico: the seed of portico.config.ts: `title` must have at most 5 characters\.\n$/,
      );
      write("short");
      const started = await PorticoProcess.start(workspace, { cwd: folder });
      assert.equal((await started.request("/notes")).body.data[0].title, "short");
      await started.stop();
    } finally {
      rmSync(folder, { recursive: true, force: true });
      await workspace.remove();
    }
  });
});

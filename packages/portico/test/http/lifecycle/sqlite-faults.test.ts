// The file of a SQLite database is moved, deleted, locked, full or damaged while a server uses it.

import assert from "node:assert/strict";
import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { databaseFile } from "../../../src/store/open.ts";
import { lockMigrations } from "../../../src/store/sqlite/migration-lock.ts";
import { expectAnswer, serveProcess, type TestServer } from "../../support/scenario.ts";
import { type Answer, PorticoProcess } from "../../support/server.ts";

const fileOf = ({ workspace }: TestServer): string => databaseFile(workspace.databaseUrl)!;
const linesOf = ({ output }: PorticoProcess, text: string): number =>
  output.split("\n").filter((line) => line.includes(text)).length;

function refused(answer: Answer): void {
  expectAnswer(answer, { status: 503, code: "unavailable" });
  assert.ok(answer.headers.get("retry-after"));
}

describe("a moved database file", () => {
  const server = serveProcess("sqlite");
  const movedPath = (): string => `${fileOf(server)}.away`;

  test("requests are refused while it is moved or replaced, and served when it is back", async () => {
    const { id } = await server.create("/posts", { title: "Kept" });
    renameSync(fileOf(server), movedPath());
    refused(await server.request("/posts", { body: { title: "Lost" } }));
    refused(await server.request(`/posts/${id}`));
    copyFileSync(movedPath(), fileOf(server));
    refused(await server.request("/posts", { body: { title: "Lost" } }));
    refused(await server.request("/readyz", { key: null }));
    assert.equal((await server.request("/healthz", { key: null })).status, 200);
    renameSync(movedPath(), fileOf(server));
    await waitUntilServed(server, `/posts/${id}`);
    await server.create("/posts", { title: "Kept too" });
    const { body } = await server.request("/posts?fields=title&sort=createdAt");
    const titles = body.data.map(({ title }: { title: string }) => title);
    assert.ok(
      titles.includes("Kept") && titles.includes("Kept too") && !titles.includes("Lost"),
      titles.join(),
    );
    await sleep(400);
    assert.equal(linesOf(server.portico, "was moved, removed or replaced"), 1);
    assert.equal(linesOf(server.portico, "the database file is restored"), 1);
  });

  test("writes that are acknowledged while it is being replaced are in the file", async () => {
    const created: string[] = [];
    let isOver = false;
    const writing = Array.from({ length: 4 }, async (_, writer) => {
      for (let number = 0; !isOver; number += 1) {
        const title = `Replaced ${writer} ${number}`;
        const { status } = await server.request("/posts", { body: { title } });
        assert.ok(status === 201 || status === 503, String(status));
        if (status === 201) created.push(title);
      }
    });
    await sleep(200);
    // The write-ahead log was not moved; it belongs to the file.
    renameSync(fileOf(server), movedPath());
    await sleep(200);
    isOver = true;
    await Promise.all(writing);
    renameSync(movedPath(), fileOf(server));
    const reader = new DatabaseSync(fileOf(server), { readOnly: true });
    const rows = reader.prepare("select title from posts where title like 'Replaced %'").all();
    reader.close();
    const stored = new Set(rows.map(({ title }) => title));
    assert.ok(created.length > 0);
    assert.deepEqual(
      created.filter((title) => !stored.has(title)),
      [],
    );
    await waitUntilServed(server, "/posts");
  });

  test("the process keeps running when it is deleted", async () => {
    rmSync(fileOf(server));
    refused(await server.request("/posts", { body: { title: "Lost" } }));
    assert.equal((await server.request("/healthz", { key: null })).status, 200);
  });
});

describe("a file that another process has locked", () => {
  const server = serveProcess("sqlite");

  test("reads continue, and writes are refused after a while and not executed later", async () => {
    const { id } = await server.create("/posts", { title: "Before" });
    const other = new DatabaseSync(fileOf(server));
    other.exec("begin immediate");
    try {
      const writes = [1, 2, 3].map((number) =>
        server.request("/posts", { body: { title: `Locked ${number}` } }),
      );
      await sleep(50);
      const late = server.request("/posts", { body: { title: "Locked too" } });
      assert.equal((await server.request(`/posts/${id}`)).status, 200);
      for (const answer of await Promise.all([...writes, late])) refused(answer);
    } finally {
      other.exec("rollback");
      other.close();
    }
    await server.create("/posts", { title: "After" });
    const { body } = await server.request("/posts?fields=title");
    assert.ok(body.data.every(({ title }: { title: string }) => !title.startsWith("Locked")));
  });
});

describe("a file that a migration has locked", () => {
  const server = serveProcess("sqlite");

  test("writes wait for a step of the migration that takes longer than other writers may", async () => {
    const unlock = await lockMigrations(fileOf(server));
    const migration = new DatabaseSync(fileOf(server));
    migration.exec("begin immediate");
    const writes = [1, 2].map((number) => server.request("/posts", { body: { title: `Waiting ${number}` } }));
    await sleep(6_000);
    migration.exec("commit");
    migration.close();
    for (const answer of await Promise.all(writes)) assert.equal(answer.status, 201);
    unlock();
  });
});

describe("a file with a damaged page", () => {
  const server = serveProcess("sqlite");

  test("requests that need the page are refused, which is logged once, and others are served", async () => {
    const marker = "damaged-".repeat(60);
    for (let number = 0; number < 40; number += 1)
      await server.create("/posts", { title: `Post ${number}`, body: marker });
    await server.portico.stop();
    const bytes = readFileSync(fileOf(server));
    for (let at = bytes.indexOf(marker); at >= 0; at = bytes.indexOf(marker, at + 1)) {
      const page = at - (at % 4096);
      bytes.fill(0xff, page, page + 4096);
    }
    writeFileSync(fileOf(server), bytes);
    const { key } = server.portico;
    const again = await PorticoProcess.start(server.workspace, { key });
    try {
      for (let count = 0; count < 3; count += 1) refused(await again.request("/posts?limit=50"));
      assert.equal((await again.request("/users")).status, 200);
      await sleep(400);
      assert.equal(linesOf(again, "the database is damaged"), 1);
      assert.equal(linesOf(again, "request failed"), 0);
    } finally {
      await again.stop();
    }
  });
});

async function waitUntilServed(server: TestServer, path: string): Promise<void> {
  for (let tries = 0; (await server.request(path)).status !== 200; tries += 1) {
    assert.ok(tries < 100, "the file is back, and requests are refused");
    await sleep(50);
  }
}

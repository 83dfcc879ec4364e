// A resource whose searched fields change, while the old and the new version serve.

import assert from "node:assert/strict";
import { test } from "node:test";
import { text } from "../../../src/declare/field.ts";
import { resource } from "../../../src/declare/resource.ts";
import { migrate } from "../../../src/store/schema/migrate.ts";
import { onEachDatabase, type Portico } from "../../support/server.ts";
import { TwoVersions, tablesFor } from "../../support/two-versions.ts";

const fields = { title: text({ max: 100 }), body: text({ max: 100 }) };
const searching = (...search: ("title" | "body")[]) => [resource("post", { fields, search })];
const searchingNothing = [resource("post", { fields })];

const rowCount = 600;

async function titlesFound(server: Portico, q: string): Promise<string[]> {
  const { body, text: answer } = await server.request(`/posts?limit=100&q=${q}`);
  assert.ok(body.data, answer);
  return body.data.map(({ title }: { title: string }) => title).sort();
}

async function addRows(server: Portico): Promise<string[]> {
  const ids: string[] = [];
  for (let start = 0; start < rowCount; start += 50)
    await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const number = start + index;
        const body = { title: `title${number}`, body: `body${number}` };
        const { status, body: row, text: answer } = await server.request("/posts", { body });
        assert.equal(status, 201, answer);
        ids[number] = row.id;
      }),
    );
  return ids;
}

/** Makes the server write a row, change one and delete one. */
async function writeRows(server: Portico, [changed, deleted]: readonly [string, string]): Promise<void> {
  const created = await server.request("/posts", { body: { title: "late", body: "evening" } });
  assert.equal(created.status, 201, created.text);
  const patched = await server.request(`/posts/${changed}`, { method: "PATCH", body: { title: "renamed" } });
  assert.equal(patched.status, 200, patched.text);
  assert.equal((await server.request(`/posts/${deleted}`, { method: "DELETE" })).status, 204);
}

async function assertNewSearch(server: Portico): Promise<void> {
  assert.deepEqual(await titlesFound(server, "evening"), ["late"]);
  assert.deepEqual(await titlesFound(server, "late"), ["late"]);
  assert.deepEqual(await titlesFound(server, "body599"), ["renamed"]);
  assert.deepEqual(await titlesFound(server, "renamed"), ["renamed"]);
  assert.deepEqual(await titlesFound(server, "title599"), []);
  assert.deepEqual(await titlesFound(server, "body598"), []);
  assert.deepEqual(await titlesFound(server, "body597"), ["title597"]);
  assert.deepEqual(await titlesFound(server, "title597"), ["title597"]);
}

onEachDatabase("a search", (database) => {
  for (const [change, old] of [
    ["of one more field", searching("title")],
    ["that is added", searchingNothing],
  ] as const)
    test(`${change} finds every row after the contraction`, async () => {
      const isSearched = old !== searchingNothing;
      const versions = await TwoVersions.startOld(database, old, searching("title", "body"));
      try {
        const ids = await addRows(versions.old);
        const reports: [number, number][] = [];
        const writes: Promise<unknown>[] = [];
        await versions.migrate({
          onProgress(_step, done, total) {
            reports.push([done, total]);
            // Searches and writes of the old version go on between the batches.
            if (isSearched)
              writes.push(titlesFound(versions.old, "title3").then((found) => assert.ok(found.length > 50)));
            writes.push(
              versions.old.request(`/posts/${ids[0]}`, { method: "PATCH", body: { title: "title0" } }),
            );
          },
        });
        await Promise.all(writes);
        assert.deepEqual(reports, [
          [250, 600],
          [500, 600],
          [600, 600],
        ]);
        assert.deepEqual((await versions.migrate()).statements, []);
        await versions.upgrade();
        assert.deepEqual(await titlesFound(versions.new, "body598"), ["title598"]);
        await writeRows(versions.old, [ids[599]!, ids[598]!]);
        if (isSearched) assert.deepEqual(await titlesFound(versions.old, "late"), ["late"]);
        const again: [number, number][] = [];
        await versions.migrate({
          isContraction: true,
          onProgress: (_step, done, total) => again.push([done, total]),
        });
        assert.deepEqual(again.at(-1), [600, 600]);
        await assertNewSearch(versions.new);
        assert.deepEqual((await versions.migrate({ isContraction: true })).statements, []);
        await writeRows(versions.new, [ids[597]!, ids[596]!]);
        assert.deepEqual(await titlesFound(versions.new, "body597"), ["renamed"]);
        assert.deepEqual(await titlesFound(versions.new, "body596"), []);
      } finally {
        await versions.stop();
      }
    });

  test("that is interrupted continues where it stopped, before and in the contraction", async () => {
    const versions = await TwoVersions.startOld(database, searching("title"), searching("title", "body"));
    try {
      const ids = await addRows(versions.old);
      const stop = (): never => {
        throw new Error("stopped");
      };
      for (const isContraction of [false, true]) {
        await assert.rejects(versions.migrate({ isContraction, onProgress: stop }), /stopped/);
        const reports: [number, number][] = [];
        await versions.migrate({
          isContraction,
          onProgress: (_step, done, total) => reports.push([done, total]),
        });
        assert.deepEqual(reports, [
          [250, 350],
          [350, 350],
        ]);
        if (isContraction) continue;
        await versions.upgrade();
        await writeRows(versions.old, [ids[599]!, ids[598]!]);
        await versions.new.request("/posts", { body: { title: "another", body: "x" } });
        await versions.new.request(
          `/posts/${(await versions.new.request("/posts?q=another")).body.data[0].id}`,
          { method: "DELETE" },
        );
      }
      await assertNewSearch(versions.new);
      assert.deepEqual((await versions.migrate({ isContraction: true })).statements, []);
    } finally {
      await versions.stop();
    }
  });

  test("that is changed back, or removed and added again, finds every row", async () => {
    const versions = await TwoVersions.startOld(database, searching("title"), searching("title", "body"));
    try {
      const ids = await addRows(versions.old);
      await versions.upgrade();
      await writeRows(versions.new, [ids[599]!, ids[598]!]);
      await migrate(versions.store, tablesFor(searching("title")));
      assert.deepEqual(await titlesFound(versions.old, "body597"), []);
      assert.deepEqual(await titlesFound(versions.old, "late"), ["late"]);
      await migrate(versions.store, tablesFor(searchingNothing));
      assert.deepEqual((await migrate(versions.store, tablesFor(searchingNothing))).statements, []);
      assert.deepEqual(await titlesFound(versions.old, "title597"), ["title597"]);
      await versions.migrate();
      await assertNewSearch(versions.new);
      await migrate(versions.store, tablesFor(searchingNothing), { isContraction: true });
      const nothing = await migrate(versions.store, tablesFor(searchingNothing), { isContraction: true });
      assert.deepEqual(nothing.statements, []);
      await versions.migrate({ isContraction: true });
      await assertNewSearch(versions.new);
    } finally {
      await versions.stop();
    }
  });
});

// Fields that become required, or are added as required: existing rows are filled while two versions serve.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { belongsTo, boolean, choice, integer, list, text, timestamp } from "../../../src/declare/field.ts";
import { range } from "../../../src/declare/filter.ts";
import { resource } from "../../../src/declare/resource.ts";
import { users } from "../../../src/index.ts";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { onEachDatabase } from "../../support/server.ts";
import { TwoVersions } from "../../support/two-versions.ts";

const slugOf = (title: unknown): string => String(title).toLowerCase().replaceAll(" ", "-");

const oldPosts = resource("post", {
  fields: {
    title: text({ max: 100 }),
    slug: text({ max: 100, optional: true }),
    rank: integer({ optional: true }),
    editor: belongsTo(() => users, { optional: true }),
  },
  filter: [range("rank")],
  sort: ["rank"],
  search: ["title"],
});

const newPosts = resource("post", {
  fields: {
    title: text({ max: 100 }),
    slug: text({ max: 100, fill: ({ title }) => slugOf(title) }),
    rank: integer({ min: 0, fill: 7 }),
    editor: belongsTo(() => users, { optional: true }),
    kind: choice(["note", "essay"], { fill: "essay" }),
    summary: text({ max: 200, fill: ({ title, rank }) => `${title}, ${rank}` }),
    labels: list(text({ max: 20 }), { fill: ["old"] }),
    isPublic: boolean({ fill: true }),
    dueAt: timestamp({ fill: "2027-01-31T10:00:00+01:00" }),
  },
  filter: [range("rank"), "kind", "slug"],
  sort: ["rank", "slug"],
  search: ["title", "summary"],
});

const own = {
  rank: 1,
  slug: "own",
  kind: "note",
  summary: "s",
  labels: [],
  isPublic: false,
  dueAt: "2027-01-01T00:00:00Z",
};
const filled = { rank: 7, kind: "essay", labels: ["old"], isPublic: true, dueAt: "2027-01-31T09:00:00.000Z" };

onEachDatabase("fields that become required", (database) => {
  let versions: TwoVersions;
  let late: string;
  const read = async (id: string) => (await versions.new.request(`/posts/${id}`)).body;
  const subset = (row: Record<string, unknown>) =>
    Object.fromEntries(Object.keys(filled).map((name) => [name, row[name]]));
  before(async () => {
    versions = await TwoVersions.startOld(database, [oldPosts], [newPosts]);
  });
  after(() => versions?.stop());

  test("the migration fills the rows in several batches, and reports the progress", async () => {
    const bodies = Array.from({ length: 600 }, (_, number) => ({ title: `Post ${number}` }));
    for (let start = 0; start < bodies.length; start += 50)
      await Promise.all(
        bodies.slice(start, start + 50).map((body) => versions.old.request("/posts", { body })),
      );
    const reports: [string, number, number][] = [];
    await versions.migrate({ onProgress: (...report) => reports.push(report) });
    const ofSlug = reports.filter(([step]) => step.includes("slug"));
    assert.deepEqual(
      ofSlug.map(([, done, total]) => [done, total]),
      [
        [250, 600],
        [500, 600],
        [600, 600],
      ],
    );
    assert.deepEqual((await versions.migrate()).statements, []);
    await versions.upgrade();
    const { body } = await versions.new.request("/posts?limit=100&q=essay");
    assert.deepEqual(body.data, []);
    const { body: page } = await versions.new.request("/posts?limit=100");
    for (const row of page.data) {
      assert.deepEqual(subset(row), filled);
      assert.deepEqual([row.slug, row.summary], [slugOf(row.title), `${row.title}, 7`]);
    }
    const found = await versions.new.request(`/posts?q=${encodeURIComponent("599, 7")}`);
    assert.equal(found.body.data.length, 1, found.text);
  });

  test("the new version requires the fields, and the old one does not", async () => {
    const { status, body } = await versions.new.request("/posts", { body: { title: "New" } });
    assert.equal(status, 422);
    assert.deepEqual(body.error.details.map(({ field }: { field: string }) => field).sort(), [
      "dueAt",
      "isPublic",
      "kind",
      "labels",
      "rank",
      "slug",
      "summary",
    ]);
    const nothing = await versions.new.request("/posts", { body: { ...own, title: "New", slug: null } });
    assert.equal(nothing.status, 422);
    assert.equal((await versions.new.request("/posts", { body: { ...own, title: "New" } })).status, 201);
    const created = await versions.old.request("/posts", { body: { title: "Late one" } });
    assert.equal(created.status, 201, created.text);
    late = created.body.id;
  });

  test("a row that the old version added shows the constant, and null for a function", async () => {
    const row = await read(late);
    assert.deepEqual(subset(row), filled);
    assert.deepEqual([row.slug, row.summary], [null, null]);
    const query = `{ post(id: "${late}") { title slug rank kind labels isPublic dueAt summary } }`;
    const { body, text: answer } = await versions.new.request("/graphql", { body: { query } });
    assert.equal(body.errors, undefined, answer);
    assert.deepEqual(subset(body.data.post), filled);
  });

  test("pages that are sorted by such a field have every row once", async () => {
    for (const sort of ["slug", "-slug", "rank", "-rank"]) {
      const ids: string[] = [];
      for (let cursor = ""; ; ) {
        const { body, text: answer } = await versions.new.request(`/posts?limit=90&sort=${sort}${cursor}`);
        assert.ok(body.data, answer);
        ids.push(...body.data.map(({ id }: { id: string }) => id));
        if (!body.pagination.hasMore) break;
        cursor = `&cursor=${body.pagination.nextCursor}`;
      }
      assert.deepEqual([ids.length, new Set(ids).size, ids.includes(late)], [602, 602, true], sort);
    }
  });

  test("events of the old version have the constants, and null for a function", async () => {
    const query = "subscription { postCreated { title rank kind labels isPublic dueAt slug summary } }";
    const stream = await TestStream.open(versions.new, query);
    await versions.old.request("/posts", { body: { title: "Later" } });
    const [{ data }] = await stream.results(1);
    assert.deepEqual(subset(data.postCreated), filled);
    assert.deepEqual([data.postCreated.slug, data.postCreated.summary], [null, null]);
    stream.close();
  });

  test("an update by the new version leaves what it does not name", async () => {
    const { status } = await versions.new.request(`/posts/${late}`, {
      method: "PATCH",
      body: { title: "Later one" },
    });
    assert.equal(status, 200);
    assert.equal((await read(late)).slug, null);
  });

  test("the contraction fills the rest and requires the fields, and both versions read on", async () => {
    await versions.migrate({ isContraction: true });
    assert.deepEqual((await versions.migrate({ isContraction: true })).statements, []);
    const row = await read(late);
    assert.deepEqual([row.slug, row.summary, row.rank], ["later-one", "Later one, 7", 7]);
    assert.equal((await versions.old.request("/posts?limit=100")).status, 200);
    const query = (text: string) => versions.store.database.query({ sql: text, bind: () => [] }, undefined);
    for (const column of ["slug", "rank", "kind", "summary", "labels", "is_public", "due_at"])
      assert.deepEqual(
        await query(`select count(*) from posts where ${column} is null`).then(([count]) =>
          Number(count![0]),
        ),
        0,
      );
    await assert.rejects(
      versions.store.transaction((session) =>
        session.query({ sql: "update posts set slug = null", bind: () => [] }, undefined),
      ),
    );
  });
});

const wrong: readonly [fact: string, fill: unknown, line: RegExp][] = [
  ["is too long", () => "x".repeat(101), /field slug: fill is not valid/],
  ["is no text", () => 7, /field slug: fill is not valid/],
  ["is a promise", async () => "x", /field slug: fill is not valid/],
  ["is missing", () => undefined, /field slug: fill is not valid: it has no value for a row/],
  ["is null", () => null, /field slug: fill is not valid/],
  [
    "cannot be computed",
    () => {
      throw new Error("no slug");
    },
    /field slug: fill is not valid: no slug/,
  ],
];

onEachDatabase("a fill with a value that", (database) => {
  for (const [fact, fill, line] of wrong)
    test(`${fact} stops the migration with one line, and the old version serves on`, async () => {
      const newer = resource("post", {
        fields: { title: text({ max: 100 }), slug: text({ max: 100, fill: fill as () => string }) },
      });
      const old = resource("post", { fields: { title: text({ max: 100 }) } });
      const versions = await TwoVersions.startOld(database, [old], [newer]);
      try {
        await versions.old.request("/posts", { body: { title: "One" } });
        await assert.rejects(versions.migrate(), line);
        assert.equal((await versions.old.request("/posts", { body: { title: "Two" } })).status, 201);
      } finally {
        await versions.stop();
      }
    });
});

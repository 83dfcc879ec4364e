// The children of a deleted row, and theirs: their events, and how many may be deleted at once.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { after, before, test } from "node:test";
import { type DatabaseReader, openReader, updatedAtColumn } from "../../support/database-reader.ts";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { requestGraphql } from "../../support/graphql/request.ts";
import { subscriptionStarted } from "../../support/graphql/subscriptions.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

onEachDatabase("children of deleted rows", (database) => {
  const server = serve(database);
  let reader: DatabaseReader;
  before(() => {
    reader = openReader(server.workspace.databaseUrl);
  });
  after(() => reader?.close());

  /** Copies a comment of a post. */
  const addComments = (postId: string, count: number): Promise<void> =>
    database === "sqlite"
      ? reader.write(`with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})
          insert into comments (${columns}) select ${copies("printf('%026d', i)")} from comments, n
          where post_id = '${postId}'`)
      : reader.write(`insert into comments (${columns}) select ${copies("lpad(i::text, 26, '0')")} from comments,
          generate_series(1, ${count}) as n (i) where post_id = '${postId}'`);
  const columns = `tenant_no, id, post_id, body, author_id, created_at, ${updatedAtColumn(database)}`;
  const copies = (number: string): string =>
    `tenant_no, 'comment_' || ${number}, post_id, body, author_id, created_at, updated_at`;

  const postWithComment = async (): Promise<{ id: string; commentId: string }> => {
    const { id } = await server.create("/posts", { title: "Discussed" });
    const { id: commentId } = await server.create(`/posts/${id}/comments`, { body: "first" });
    return { id, commentId };
  };
  const remove = (id: string) => server.request(`/posts/${id}`, { method: "DELETE" });
  const eventsOf = (kind: string) =>
    reader.rows(`select row_id from events where kind = '${kind}'`).then((rows) => rows.map(([id]) => id));

  test("each child has an event with its row, in the transaction of its parent", async () => {
    const stream = await TestStream.open(
      server.portico,
      "subscription { commentDeleted { id body postId } }",
    );
    try {
      await subscriptionStarted();
      const { id, commentId } = await postWithComment();
      const { id: other } = await server.create(`/posts/${id}/comments`, { body: "second" });
      expectAnswer(await remove(id), { status: 204 });
      const results = await stream.results(2);
      assert.deepEqual(
        results.map(({ data }) => data.commentDeleted),
        [
          { id: other, body: "second", postId: id },
          { id: commentId, body: "first", postId: id },
        ],
      );
    } finally {
      stream.close();
    }
  });

  test("a deletion that is rolled back leaves the children, and no events", async () => {
    const { id, commentId } = await postWithComment();
    const unknown = id.replace(/[^_]+$/, "0".repeat(26));
    const mutation = `mutation { a: deletePost(id: "${id}") { id } b: deletePost(id: "${unknown}") { id } }`;
    assert.equal((await requestGraphql(server, mutation)).body.data, null);
    expectAnswer(await server.request(`/comments/${commentId}`), { status: 200 });
    assert.ok(!(await eventsOf("comment.deleted")).includes(commentId));
  });

  test("comments that are created while their post is deleted are refused, or deleted with it", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await postWithComment();
      const create = () => server.request(`/posts/${id}/comments`, { body: { body: "late" } });
      const early = Array.from({ length: 5 }, create);
      const deletion = remove(id);
      const late = Array.from({ length: 5 }, create);
      expectAnswer(await deletion, { status: 204 });
      const created = (await Promise.all([...early, ...late])).filter(({ status, text }) => {
        assert.ok([201, 404, 409].includes(status), text);
        return status === 201;
      });
      const deleted = new Set(await eventsOf("comment.deleted"));
      for (const { body } of created) assert.ok(deleted.has(body.id));
    }
  });

  test("10,000 children are deleted together, and others are served meanwhile", async () => {
    const { id } = await postWithComment();
    await addComments(id, 9_999);
    const before = (await eventsOf("comment.deleted")).length;
    const deletion = remove(id);
    let isDone = false;
    void deletion.finally(() => {
      isDone = true;
    });
    let reads = 0;
    for (; !isDone; reads += 1) expectAnswer(await server.request("/users?perPage=1"), { status: 200 });
    expectAnswer(await deletion, { status: 204 });
    assert.ok(reads > 3, `${reads} reads`);
    assert.equal((await eventsOf("comment.deleted")).length, before + 10_000);
    assert.deepEqual(await reader.rows(`select id from comments where post_id = '${id}'`), []);
  });

  test("a row with more children is not deleted, and neither are they", async () => {
    const { id, commentId } = await postWithComment();
    await addComments(id, 10_000);
    const before = (await eventsOf("comment.deleted")).length;
    expectAnswer(await remove(id), { status: 409, code: "conflict", message: /More than 10000 rows/ });
    assert.equal((await eventsOf("comment.deleted")).length, before);
    expectAnswer(await server.request(`/posts/${id}`), { status: 200 });
    expectAnswer(await server.request(`/comments/${commentId}`, { method: "DELETE" }), { status: 204 });
    expectAnswer(await remove(id), { status: 204 });
  });
});

onEachDatabase("rows that are deleted with a child", (database) => {
  const server = serve(database, { cwd: resolve(import.meta.dirname, "../../fixtures/club") });

  const clubWithSticker = async (name: string) => {
    const { id: clubId } = await server.create("/clubs", { name: "Club" });
    const { id: lockerId } = await server.create("/lockers", { name: "1", clubId });
    const { id: labelId } = await server.create(`/lockers/${lockerId}/labels`, { text: "mine" });
    const { id } = await server.create("/stickers", { name, labelId });
    return [`/clubs/${clubId}`, `/lockers/${lockerId}`, `/labels/${labelId}`, `/stickers/${id}`];
  };

  test("all of them are deleted, and have events", async () => {
    const streams = await Promise.all(
      ["club", "locker", "label", "sticker"].map((name) =>
        TestStream.open(server.portico, `subscription { ${name}Deleted { id } }`),
      ),
    );
    try {
      await subscriptionStarted();
      const paths = await clubWithSticker("loose");
      expectAnswer(await server.request(paths[0]!, { method: "DELETE" }), { status: 204 });
      for (const [index, stream] of streams.entries()) {
        const [{ data }] = await stream.results(1);
        assert.ok(paths[index]!.endsWith(Object.values<{ id: string }>(data)[0]!.id));
        expectAnswer(await server.request(paths[index]!), { status: 404 });
      }
    } finally {
      for (const stream of streams) stream.close();
    }
  });

  test("a hook of any of them that refuses leaves all of them", async () => {
    const paths = await clubWithSticker("stuck");
    const answer = await server.request(paths[0]!, { method: "DELETE" });
    expectAnswer(answer, { status: 409, message: /stuck/ });
    for (const path of paths) expectAnswer(await server.request(path), { status: 200 });
  });
});

onEachDatabase("a nested collection that is deleted", (database) => {
  const server = serve(database, { cwd: resolve(import.meta.dirname, "../../fixtures/club") });
  let reader: DatabaseReader;
  before(() => {
    reader = openReader(server.workspace.databaseUrl);
  });
  after(() => reader?.close());

  const count = async (what: string): Promise<number> => {
    const [row] = await reader.rows(`select count(*) from ${what}`);
    return Number(row![0]);
  };

  /** A shelf with other shelves in it. */
  async function container(contained: number): Promise<string> {
    const { id } = await server.create("/shelves", { name: "container" });
    const { id: first } = await server.create("/shelves", { name: "contained", containerId: id });
    const columns = `tenant_no, id, name, container_id, created_at, ${updatedAtColumn(database)}`;
    const copies = (number: string): string =>
      `tenant_no, 'shelf_' || ${number} || substr(id, 17), name, container_id, created_at, updated_at`;
    await reader.write(
      database === "sqlite"
        ? `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${contained - 1})
           insert into shelves (${columns}) select ${copies("printf('%010d', i)")} from shelves, n where id = '${first}'`
        : `insert into shelves (${columns}) select ${copies("lpad(i::text, 10, '0')")} from shelves,
           generate_series(1, ${contained - 1}) as n (i) where id = '${first}'`,
    );
    return id;
  }

  const empty = (id: string) => server.request(`/shelves/${id}/shelves`, { method: "DELETE" });

  test("all of its rows are deleted with an event each, and others are served meanwhile", async () => {
    // PostgreSQL needs several round trips for each row.
    const contained = database === "sqlite" ? 5_000 : 500;
    const id = await container(contained);
    const eventsBefore = await count("events where kind = 'shelf.deleted'");
    const deletion = empty(id);
    let isDone = false;
    void deletion.finally(() => {
      isDone = true;
    });
    let reads = 0;
    for (; !isDone; reads += 1) expectAnswer(await server.request("/users?perPage=1"), { status: 200 });
    expectAnswer(await deletion, { status: 204 });
    assert.ok(reads > 3, `${reads} reads`);
    assert.equal(await count(`shelves where container_id = '${id}'`), 0);
    assert.equal(await count("events where kind = 'shelf.deleted'"), eventsBefore + contained);
  });

  test("with more than 10,000 rows nothing of it is deleted", async () => {
    const id = await container(10_001);
    const eventsBefore = await count("events where kind = 'shelf.deleted'");
    const message = /^More than 10000 rows would be deleted together/;
    expectAnswer(await empty(id), { status: 409, code: "conflict", message });
    assert.equal(await count(`shelves where container_id = '${id}'`), 10_001);
    assert.equal(await count("events where kind = 'shelf.deleted'"), eventsBefore);
  });
});

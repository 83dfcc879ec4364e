// On PostgreSQL, a row without hooks and its event are created by one statement. Its faults are those of a transaction. A
// row is updated or deleted with its event by one statement, too.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { serve } from "../../support/scenario.ts";

describe("writes in one statement (PostgreSQL)", { skip: !process.env.PORTICO_TEST_POSTGRES }, () => {
  const server = serve("postgres");
  let sql: postgres.Sql;
  before(() => {
    sql = postgres(server.workspace.databaseUrl, { max: 2 });
  });
  after(() => sql?.end());

  test("one statement inserts the row and its event", async () => {
    const post = await server.create("/posts", { title: "Alone" });
    const comment = await server.create(`/posts/${post.id}/comments`, { body: "Alone too" });
    // `cmin` counts the statements of a transaction.
    const written = await sql`
      select events.row_id, events.kind, events.row::text as row
      from events join (select id, xmin, cmin from posts union all select id, xmin, cmin from comments) as rows
        on rows.id = events.row_id and rows.xmin = events.xmin and rows.cmin = events.cmin
      where events.row_id in (${post.id}, ${comment.id}) order by events.sequence`;
    assert.deepEqual(
      written.map(({ row_id: id, kind, row }) => [id, kind, JSON.parse(row)]),
      [
        [post.id, "post.created", post],
        [comment.id, "comment.created", comment],
      ],
    );
  });

  test("creates one after another use one connection, concurrent ones several", async () => {
    const create = () => server.create("/posts", { title: "Somewhere" });
    const connections = async () => {
      const [row] = await sql`select count(*)::int as count from pg_stat_activity
        where datname = current_database() and query like 'with written as (insert into "posts"%'`;
      return row!.count;
    };
    for (let number = 0; number < 5; number += 1) await create();
    assert.equal(await connections(), 1);
    await Promise.all(Array.from({ length: 40 }, create));
    assert.ok((await connections()) > 1);
  });

  test("one statement updates a row and inserts the event", async () => {
    const post = await server.create("/posts", { title: "Before" });
    const answer = await server.request(`/posts/${post.id}`, { method: "PATCH", body: { title: "After" } });
    assert.equal(answer.status, 200, answer.text);
    const [event] = await sql`
      select events.kind, events.row::text as row from posts
      join events on events.row_id = posts.id and events.xmin = posts.xmin and events.cmin = posts.cmin
      where posts.id = ${post.id}`;
    assert.deepEqual([event?.kind, event && JSON.parse(event.row)], ["post.updated", answer.body]);
    assert.equal((await server.request(`/posts/${post.id}`, { method: "DELETE" })).status, 204);
    const [deleted] = await sql`
      select kind, row::text as row from events where row_id = ${post.id} order by sequence desc limit 1`;
    assert.deepEqual([deleted!.kind, JSON.parse(deleted!.row)], ["post.deleted", answer.body]);
  });

  test("a create that waits for a lock succeeds later and holds up no other", async () => {
    const email = (name: string) => ({
      name,
      email: `${name}@example.com`,
    });
    const [locked, free] = [
      await server.create("/users", email("locked")),
      await server.create("/users", email("free")),
    ];
    const waiting: Promise<unknown>[] = [];
    await sql.begin(async (transaction) => {
      await transaction`select 1 from users where id = ${locked.id} for update`;
      for (let number = 0; number < 4; number += 1)
        waiting.push(server.create("/posts", { title: "Waits", authorId: locked.id }));
      await sleep(20);
      await Promise.all(
        Array.from({ length: 40 }, () => server.create("/posts", { title: "Free", authorId: free.id })),
      );
      const { body } = await server.request(`/posts?authorId=${locked.id}`);
      assert.deepEqual(body.data, []);
    });
    await Promise.all(waiting);
    const events = await sql`select count(*)::int as count from events join posts on posts.id = events.row_id
      where posts.title in ('Waits', 'Free')`;
    assert.equal(events[0]!.count, 44);
  });

  test("of several faults, the one that a transaction finds first is reported", async () => {
    const author = "user_01k00000000000000000000000";
    const body = { body: "Nowhere", authorId: author };
    const missing = await server.request("/posts/post_01k00000000000000000000000/comments", { body });
    assert.equal(missing.status, 404, missing.text);
    const post = await server.create("/posts", { title: "Present" });
    const refused = await server.request(`/posts/${post.id}/comments`, { body });
    assert.equal(refused.status, 422, refused.text);
    assert.deepEqual(refused.body.error.details, [{ field: "authorId", issue: "reference" }]);
    for (const id of ["%00", "post", "x".repeat(200)])
      assert.equal((await server.request(`/posts/${id}/comments`, { body: { body: "No" } })).status, 404, id);
  });
});

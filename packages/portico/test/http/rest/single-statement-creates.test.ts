// On PostgreSQL, a row without hooks and its event are created by one statement, and so are several rows that are created
// at the same time. Its faults are those of a transaction. A row is updated or deleted with its event by one statement, too.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { makeKey } from "../../support/keys.ts";
import { serve } from "../../support/scenario.ts";
import { type Answer, whyNoPostgres } from "../../support/server.ts";

describe("writes in one statement (PostgreSQL)", { skip: whyNoPostgres() }, () => {
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

  test("creates one after another are transactions of their own, and concurrent ones share some", async () => {
    const transactionsOf = async (title: string) => {
      const [row] = await sql`select count(distinct posts.xmin::text)::int as posts,
          count(distinct (posts.xmin::text, events.xmin::text))::int as both
        from posts join events on events.row_id = posts.id where title = ${title}`;
      return row!;
    };
    for (let number = 0; number < 5; number += 1) await server.create("/posts", { title: "Apart" });
    assert.deepEqual({ ...(await transactionsOf("Apart")) }, { posts: 5, both: 5 });
    await Promise.all(Array.from({ length: 40 }, () => server.create("/posts", { title: "Shared" })));
    const { posts, both } = await transactionsOf("Shared");
    // How many share one depends on how fast the requests arrive.
    assert.ok(posts < 40, `40 creates ran as ${posts} transactions`);
    assert.equal(both, posts);
  });

  test("of concurrent creates, one that the database refuses fails alone", async () => {
    await sql.unsafe(`
      create function refuse_halfway() returns trigger language plpgsql as $$ begin raise 'a fault of the database'; end $$;
      create trigger refuse_halfway before insert on posts for each row when (new.title = 'Halfway') execute function refuse_halfway()`);
    const titles = Array.from({ length: 40 }, (_, number) =>
      number === 20 ? "Halfway" : `Beside ${number}`,
    );
    const answers = await Promise.all(titles.map((title) => server.request("/posts", { body: { title } })));
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.title]),
      titles.map((title) => (title === "Halfway" ? [500, undefined] : [201, title])),
    );
    await sql`drop trigger refuse_halfway on posts`;
    await server.create("/posts", { title: "Halfway" });
  });

  test("creates whose sessions are killed tell the truth, and each row has one event, of its credential", async () => {
    const keys = await Promise.all([1, 2, 3].map(() => makeKey(server, { scopes: ["posts:write"] })));
    const creates: { readonly keyId: string; readonly answer: Promise<Answer> }[] = [];
    const create = (): void => {
      for (const { id: keyId, key } of Array.from({ length: 20 }, () => keys).flat()) {
        const body = { title: `Killed ${creates.length}` };
        creates.push({ keyId, answer: server.request("/posts", { key, body }) });
      }
    };
    await sql.begin(async (transaction) => {
      await transaction`lock table posts in share mode`;
      create();
      for (let killed = 0; killed === 0; )
        ({ count: killed } = await sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`);
    });
    await Promise.all(creates.map(({ answer }) => answer));
    create();
    const answers = await Promise.all(creates.map(({ answer }) => answer));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [201, 503]);
    const rows = await sql`select posts.id, posts.title, events.credential_id as key_id from posts
      left join events on events.row_id = posts.id where title like 'Killed %'`;
    const stored = new Map(rows.map((row) => [row.title, row]));
    assert.equal(stored.size, rows.length);
    for (const [number, { status, body }] of answers.entries()) {
      const row = stored.get(`Killed ${number}`);
      if (status === 201) assert.equal(row?.id, body.id);
      if (row) assert.equal(row.key_id, creates[number]!.keyId);
    }
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

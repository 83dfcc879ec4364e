// Subscriptions receive the events of REST and GraphQL that their caller may see, once and in order.

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "graphql-ws";
import { WebSocket } from "ws";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { dataOf, expectError, requestGraphql } from "../../support/graphql/request.ts";
import {
  createdPosts,
  subscriptionStarted,
  titlesOf,
  withStream,
} from "../../support/graphql/subscriptions.ts";
import { TestSocket } from "../../support/graphql/web-socket.ts";
import { makeTenant, runCommand, type Served, serve } from "../../support/scenario.ts";
import { onEachDatabase, projectFolder } from "../../support/server.ts";

/** Several polling intervals of the event feed. */
const aWhileMs = 200;

onEachDatabase("subscriptions", (database) => {
  const served = serve(database, { env: { PORTICO_GRAPHQL_SUBSCRIPTIONS: "5" } });
  describe("events", () => events(served));
  describe("access", () => access(served));
  describe("policies", () => policies(database));
});

function events(served: Served): void {
  const key = (): { url: string; key: string } => served.portico;

  test("a post created through REST is received", () =>
    withStream(key(), createdPosts, {}, async (stream) => {
      const post = await served.create("/posts", { title: "By REST" });
      const [result] = await stream.results(1);
      assert.deepEqual(result.data, { postCreated: { id: post.id, title: "By REST" } });
      assert.equal(result.extensions.eventId, stream.events[0]!.id);
    }));

  test("a post created through GraphQL is received", () =>
    withStream(key(), createdPosts, {}, async (stream) => {
      await dataOf(served, 'mutation { createPost(input: { title: "By GraphQL" }) { id } }');
      assert.deepEqual(titlesOf(await stream.results(1)), ["By GraphQL"]);
    }));

  test("earlier events are not received", async () => {
    await served.create("/posts", { title: "Before" });
    await withStream(key(), createdPosts, {}, async (stream) => {
      await served.create("/posts", { title: "After" });
      assert.deepEqual(titlesOf(await stream.results(1)), ["After"]);
    });
  });

  test("updates are received of all posts, or of one by its id", async () => {
    const one = await served.create("/posts", { title: "One" });
    const other = await served.create("/posts", { title: "Other" });
    const byId = "subscription Changes($id: ID) { postUpdated(id: $id) { title } }";
    await withStream(key(), "subscription { postUpdated { title } }", {}, (all) =>
      withStream(key(), byId, { variables: { id: one.id } }, async (single) => {
        await served.request(`/posts/${other.id}`, { method: "PATCH", body: { title: "Other, changed" } });
        await served.request(`/posts/${one.id}`, { method: "PATCH", body: { title: "One, changed" } });
        assert.deepEqual(titlesOf(await all.results(2)), ["Other, changed", "One, changed"]);
        assert.deepEqual(titlesOf(await single.results(1)), ["One, changed"]);
      }),
    );
  });

  test("a deletion is received with the row as it was", async () => {
    const post = await served.create("/posts", { title: "To go" });
    await withStream(
      key(),
      "subscription { postDeleted { id name: title __typename } }",
      {},
      async (stream) => {
        await served.request(`/posts/${post.id}`, { method: "DELETE" });
        const [{ data }] = await stream.results(1);
        assert.deepEqual(data.postDeleted, { id: post.id, name: "To go", __typename: "Post" });
      },
    );
  });

  test("other rows cannot be selected for a deleted row", async () => {
    const stream = await TestStream.open(key(), "subscription { postDeleted { author { name } } }");
    const [result] = await stream.results(1);
    assert.match(result.errors[0].message, /^Cannot select "postDeleted\.author": the row is deleted/);
    assert.equal(result.errors[0].extensions.code, "validation_error");
    await stream.ended();
    assert.equal(stream.events.at(-1)!.event, "complete");
  });

  test("filters are applied to the row", () =>
    withStream(
      key(),
      "subscription { postCreated(filter: { status: [published, archived] }) { title } }",
      {},
      async (stream) => {
        for (const status of ["draft", "published", "archived"])
          await served.create("/posts", { title: status, status });
        assert.deepEqual(titlesOf(await stream.results(2)), ["published", "archived"]);
      },
    ));

  test("ranges are applied to the row", async () => {
    const project = await served.create("/projects", { name: "Ranges" });
    const make = (ref: string): Promise<unknown> =>
      served.create("/deployments", { projectId: project.id, ref });
    const query = (range: string): string =>
      `subscription { deploymentCreated(filter: { ${range} }) { title: ref } }`;
    await withStream(key(), query('createdAtGte: "2020-01-01"'), {}, (since) =>
      withStream(key(), query('createdAtLt: "2020-01-01"'), {}, async (until) => {
        await make("main");
        assert.deepEqual(titlesOf(await since.results(1)), ["main"]);
        await sleep(aWhileMs);
        assert.deepEqual(until.allResults, []);
      }),
    );
  });

  test("comments of one post are received by its id", async () => {
    const [one, other] = [
      await served.create("/posts", { title: "One" }),
      await served.create("/posts", { title: "Other" }),
    ];
    const query = "subscription Below($id: ID) { commentCreated(postId: $id) { title: body } }";
    await withStream(key(), query, { variables: { id: one.id } }, async (stream) => {
      await served.create(`/posts/${other.id}/comments`, { body: "there" });
      await served.create(`/posts/${one.id}/comments`, { body: "here" });
      assert.deepEqual(titlesOf(await stream.results(1)), ["here"]);
    });
  });

  test("related rows can be selected, with aliases and fragments", () =>
    withStream(
      key(),
      `subscription { created: postCreated { ...Shown by: author { name } comments(first: 1) { body } } }
       fragment Shown on Post { title }`,
      {},
      async (stream) => {
        await served.create("/posts", { title: "Nested" });
        const [{ data }] = await stream.results(1);
        assert.deepEqual(data, { created: { title: "Nested", by: { name: "Ada Lovelace" }, comments: [] } });
      },
    ));

  test("every update is received once and in order during concurrent writes", async () => {
    const rows = await Promise.all(
      [1, 2, 3, 4].map((number) => served.create("/posts", { title: `r${number}` })),
    );
    const changes = 40;
    await withStream(key(), "subscription { postUpdated { id title } }", {}, async (stream) => {
      const one = async ({ id }: { id: string }): Promise<void> => {
        for (let number = 1; number <= changes; number += 1)
          await served.request(`/posts/${id}`, { method: "PATCH", body: { title: String(number) } });
      };
      await Promise.all(rows.map(one));
      const results = await stream.results(rows.length * changes);
      assert.equal(results.length, rows.length * changes);
      for (const { id } of rows) {
        const own = results.filter(({ data }) => data.postUpdated.id === id);
        assert.deepEqual(
          titlesOf(own),
          Array.from({ length: changes }, (_, index) => String(index + 1)),
        );
      }
      const ids = results.map(({ extensions }) => Number(extensions.eventId));
      assert.deepEqual(
        ids,
        ids.toSorted((one, other) => one - other),
      );
    });
  });

  test("the graphql-ws client can subscribe, query and mutate over one connection", async () => {
    const client = createClient({
      url: `${served.url.replace("http", "ws")}/graphql`,
      webSocketImpl: WebSocket,
      lazy: true,
      connectionParams: { authorization: `Bearer ${served.portico.key}` },
    });
    const first = async (query: string): Promise<Record<string, unknown>> => {
      for await (const { data } of client.iterate({ query })) return data!;
      throw new Error("nothing came");
    };
    try {
      const received = first(createdPosts);
      await subscriptionStarted();
      await sleep(aWhileMs);
      const created = await first('mutation { createPost(input: { title: "By socket" }) { id title } }');
      assert.deepEqual((await received).postCreated, created.createPost);
      const queried = await first("{ posts(limit: 1) { title } }");
      assert.deepEqual(queried, { posts: [{ title: "By socket" }] });
    } finally {
      await client.dispose();
    }
  });

  test("the result of a query is an event stream if the client accepts nothing else", async () => {
    const stream = await TestStream.open(key(), "{ posts(limit: 1) { __typename } }");
    const [result] = await stream.results(1);
    assert.deepEqual(result, { data: { posts: [{ __typename: "Post" }] } });
    await stream.ended();
    assert.deepEqual(
      stream.events.map(({ event }) => event),
      ["next", "complete"],
    );
  });

  test("a GET request can subscribe, but not run a mutation", async () => {
    const get = (query: string): Promise<Response> =>
      fetch(`${served.url}/graphql?${new URLSearchParams({ query })}`, {
        headers: { authorization: `Bearer ${served.portico.key}`, accept: "text/event-stream" },
      });
    const stream = await get(createdPosts);
    assert.equal(stream.status, 200);
    await stream.body!.cancel();
    const text = await (await get('mutation { createPost(input: { title: "x" }) { id } }')).text();
    assert.match(text, /method_not_allowed/);
  });

  test("a client that also accepts JSON gets event streams for subscriptions only", async () => {
    const accept = "application/graphql-response+json, application/json, text/event-stream";
    const stream = await TestStream.open(key(), createdPosts, { headers: { accept } });
    stream.close();
    const answer = await requestGraphql(served, "{ posts(limit: 1) { __typename } }", {
      headers: { accept },
    });
    assert.match(answer.headers.get("content-type")!, /json/);
  });

  test("a subscription requested as JSON is an error that names the transports", async () => {
    expectError(await requestGraphql(served, createdPosts), {
      code: "not_acceptable",
      message: /text\/event-stream/,
    });
  });
}

function access(served: Served): void {
  test("another tenant sees nothing", async () => {
    const { key } = await makeTenant(served.workspace);
    await withStream(served.portico, createdPosts, { key }, (theirs) =>
      withStream(served.portico, createdPosts, {}, async (own) => {
        await served.create("/posts", { title: "Ours" });
        await served.create("/posts", { title: "Theirs" }, { key });
        assert.deepEqual(titlesOf(await own.results(1)), ["Ours"]);
        assert.deepEqual(titlesOf(await theirs.results(1)), ["Theirs"]);
        await sleep(aWhileMs);
        assert.equal(own.allResults.length + theirs.allResults.length, 2);
      }),
    );
  });

  test("a missing scope, of the row or a nested row, is an error with its path", async () => {
    const { key } = await served.command("key", "create", "--name", "Posts", "--scopes", "posts:read");
    for (const [query, path] of [
      ["subscription { commentCreated { body } }", ["commentCreated"]],
      ["subscription { postCreated { author { name } } }", ["postCreated", "author"]],
    ] as const) {
      const stream = await TestStream.open(served.portico, query, { key });
      const [{ errors, data }] = await stream.results(1);
      assert.equal(data, undefined);
      assert.equal(errors[0].extensions.code, "insufficient_scope");
      assert.deepEqual(errors[0].path, path);
      await stream.ended();
    }
  });

  test("a request without a credential is 401", async () => {
    const headers = { accept: "text/event-stream, application/json" };
    const answer = await requestGraphql(served, createdPosts, { key: null, headers });
    assert.equal(answer.status, 401);
  });

  test("one subscription more than the limit is rejected, until another has ended", async () => {
    const { key } = await served.command("key", "create", "--name", "Many", "--scopes", "posts:read");
    const socket = await TestSocket.ready(served.portico, key);
    for (const id of ["1", "2", "3", "4", "5"]) socket.subscribe(id, createdPosts);
    await subscriptionStarted();
    socket.subscribe("6", createdPosts);
    const { payload } = await socket.message(({ id, type }) => id === "6" && type === "error");
    assert.equal(payload[0].extensions.code, "rate_limited");
    assert.match(payload[0].message, /^The credential has 5 open subscriptions, which is the limit\./);
    socket.send({ id: "1", type: "complete" });
    await subscriptionStarted();
    socket.subscribe("7", createdPosts);
    await served.create("/posts", { title: "Room" });
    assert.equal((await socket.results("7", 1)).length, 1);
    assert.equal((await socket.results("1", 0)).length, 0);
    await socket.close();
  });
}

function policies(database: "sqlite" | "postgres"): void {
  const cwd = join(projectFolder, "packages/portico/test/fixtures/workshop");
  const served = serve(database, { cwd });

  test("events of a row that a policy hides are not received", async () => {
    const scopes = "diaries:read,diaries:write,users:read";
    const make = async (name: string): Promise<string> => {
      const words = ["--email", `${name}@example.com`, "--name", name, "--password", "correct horse"];
      const { user } = await runCommand(served.workspace, ["user", "create", ...words], { cwd });
      const named = ["key", "create", "--name", name, "--scopes", scopes, "--user", user.id];
      return (await runCommand(served.workspace, named, { cwd })).key;
    };
    const [one, other] = [await make("one"), await make("other")];
    const query = "subscription { diaryCreated { title: text owner { name } } }";
    await withStream(served.portico, query, { key: one }, (ones) =>
      withStream(served.portico, query, { key: other }, async (others) => {
        await served.create("/diaries", { text: "of one" }, { key: one });
        await served.create("/diaries", { text: "of the other" }, { key: other });
        assert.deepEqual(titlesOf(await ones.results(1)), ["of one"]);
        assert.deepEqual(titlesOf(await others.results(1)), ["of the other"]);
        await sleep(aWhileMs);
        assert.equal(ones.allResults.length + others.allResults.length, 2);
      }),
    );
  });
}

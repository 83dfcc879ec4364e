// Subscriptions receive the events of REST and GraphQL that their caller may see, once and in order.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "graphql-ws";
import { WebSocket } from "ws";
import { Position } from "../../../src/events/position.ts";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { dataOf, expectError, requestGraphql } from "../../support/graphql/request.ts";
import {
  createdPosts,
  subscriptionStarted,
  titlesOf,
  withStream,
} from "../../support/graphql/subscriptions.ts";
import { serve, type TestServer } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

/** Several polling intervals of the event feed. */
const severalPollsMs = 200;

onEachDatabase("subscriptions", (database) => {
  const server = serve(database, { env: { PORTICO_GRAPHQL_SUBSCRIPTIONS: "5" } });
  events(server);
});

function events(server: TestServer): void {
  const key = (): { url: string; key: string } => server.portico;

  test("a post created through REST is received", () =>
    withStream(key(), createdPosts, {}, async (stream) => {
      const post = await server.create("/posts", { title: "By REST" });
      const [result] = await stream.results(1);
      assert.deepEqual(result.data, { postCreated: { id: post.id, title: "By REST" } });
      assert.equal(result.extensions.eventId, stream.events[0]!.id);
    }));

  test("a post created through GraphQL is received", () =>
    withStream(key(), createdPosts, {}, async (stream) => {
      await dataOf(server, 'mutation { createPost(input: { title: "By GraphQL" }) { id } }');
      assert.deepEqual(titlesOf(await stream.results(1)), ["By GraphQL"]);
    }));

  test("earlier events are not received", async () => {
    await server.create("/posts", { title: "Before" });
    await withStream(key(), createdPosts, {}, async (stream) => {
      await server.create("/posts", { title: "After" });
      assert.deepEqual(titlesOf(await stream.results(1)), ["After"]);
    });
  });

  test("updates are received of all posts, or of one by its id", async () => {
    const one = await server.create("/posts", { title: "One" });
    const other = await server.create("/posts", { title: "Other" });
    const byId = "subscription Changes($id: ID) { postUpdated(id: $id) { title } }";
    await withStream(key(), "subscription { postUpdated { title } }", {}, (all) =>
      withStream(key(), byId, { variables: { id: one.id } }, async (single) => {
        await server.request(`/posts/${other.id}`, { method: "PATCH", body: { title: "Other, changed" } });
        await server.request(`/posts/${one.id}`, { method: "PATCH", body: { title: "One, changed" } });
        assert.deepEqual(titlesOf(await all.results(2)), ["Other, changed", "One, changed"]);
        assert.deepEqual(titlesOf(await single.results(1)), ["One, changed"]);
      }),
    );
  });

  test("a deletion is received with the row as it was", async () => {
    const post = await server.create("/posts", { title: "To go" });
    await withStream(
      key(),
      "subscription { postDeleted { id name: title __typename } }",
      {},
      async (stream) => {
        await server.request(`/posts/${post.id}`, { method: "DELETE" });
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
          await server.create("/posts", { title: status, status });
        assert.deepEqual(titlesOf(await stream.results(2)), ["published", "archived"]);
      },
    ));

  test("ranges are applied to the row", async () => {
    const project = await server.create("/projects", { name: "Ranges" });
    const make = (ref: string): Promise<unknown> =>
      server.create("/deployments", { projectId: project.id, ref });
    const query = (range: string): string =>
      `subscription { deploymentCreated(filter: { ${range} }) { title: ref } }`;
    await withStream(key(), query('createdAtGte: "2020-01-01"'), {}, (since) =>
      withStream(key(), query('createdAtLt: "2020-01-01"'), {}, async (until) => {
        await make("main");
        assert.deepEqual(titlesOf(await since.results(1)), ["main"]);
        await sleep(severalPollsMs);
        assert.deepEqual(until.allResults, []);
      }),
    );
  });

  test("comments of one post are received by its id", async () => {
    const [one, other] = [
      await server.create("/posts", { title: "One" }),
      await server.create("/posts", { title: "Other" }),
    ];
    const query = "subscription Below($id: ID) { commentCreated(postId: $id) { title: body } }";
    await withStream(key(), query, { variables: { id: one.id } }, async (stream) => {
      await server.create(`/posts/${other.id}/comments`, { body: "there" });
      await server.create(`/posts/${one.id}/comments`, { body: "here" });
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
        await server.create("/posts", { title: "Nested" });
        const [{ data }] = await stream.results(1);
        assert.deepEqual(data, { created: { title: "Nested", by: { name: "Ada Lovelace" }, comments: [] } });
      },
    ));

  test("every update is received once and in order during concurrent writes", async () => {
    const rows = await Promise.all(
      [1, 2, 3, 4].map((number) => server.create("/posts", { title: `r${number}` })),
    );
    const changes = 40;
    await withStream(key(), "subscription { postUpdated { id title } }", {}, async (stream) => {
      const one = async ({ id }: { id: string }): Promise<void> => {
        for (let number = 1; number <= changes; number += 1)
          await server.request(`/posts/${id}`, { method: "PATCH", body: { title: String(number) } });
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
      const ids = results.map(({ extensions }) => Position.parse(extensions.eventId)!);
      assert.deepEqual(
        ids,
        ids.toSorted((one, other) => (one.isAfter(other) ? 1 : -1)),
      );
    });
  });

  test("the graphql-ws client can subscribe, query and mutate over one connection", async () => {
    const client = createClient({
      url: `${server.url.replace("http", "ws")}/graphql`,
      webSocketImpl: WebSocket,
      lazy: true,
      connectionParams: { authorization: `Bearer ${server.portico.key}` },
    });
    const first = async (query: string): Promise<Record<string, unknown>> => {
      for await (const { data } of client.iterate({ query })) return data!;
      throw new Error("nothing came");
    };
    try {
      const received = first(createdPosts);
      await subscriptionStarted();
      await sleep(severalPollsMs);
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
      fetch(`${server.url}/graphql?${new URLSearchParams({ query })}`, {
        headers: { authorization: `Bearer ${server.portico.key}`, accept: "text/event-stream" },
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
    const answer = await requestGraphql(server, "{ posts(limit: 1) { __typename } }", {
      headers: { accept },
    });
    assert.match(answer.headers.get("content-type")!, /json/);
  });

  test("a subscription requested as JSON is an error that names the transports", async () => {
    expectError(await requestGraphql(server, createdPosts), {
      code: "not_acceptable",
      message: /text\/event-stream/,
    });
  });
}

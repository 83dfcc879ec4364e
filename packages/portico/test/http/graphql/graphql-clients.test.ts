// Clients of GraphQL as applications use them, with types that come from the schema of the service.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fetchExchange, subscriptionExchange, Client as UrqlClient } from "@urql/core";
import { initGraphQLTada } from "gql.tada";
import { createClient as createSseClient } from "graphql-sse";
import { createClient as createSocketClient } from "graphql-ws";
import { WebSocket } from "ws";
import { introspectionFile, printIntrospection } from "../../graphql/service-introspection.ts";
import type { introspection } from "../../graphql/service-schema.d.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const graphql = initGraphQLTada<{
  introspection: introspection;
  scalars: { DateTime: string; JSON: unknown; SafeInt: number };
}>();

const createPost = graphql(
  `mutation ($input: CreatePostInput!) { createPost(input: $input) { id title status } }`,
);
const updatePost = graphql(`
  mutation ($id: ID!, $input: UpdatePostInput!) { updatePost(id: $id, input: $input) { id status } }
`);
const deletePost = graphql(`mutation ($id: ID!) { deletePost(id: $id) { id } }`);
const postsOfAll = graphql(`{ posts(limit: 5) { title author { name posts(first: 1) { title } } } }`);
const pageOfPosts = graphql(`
  query ($after: String) {
    postsConnection(first: 2, after: $after, sort: TITLE_ASC) {
      edges { node { title } }
      pageInfo { hasNextPage endCursor }
    }
  }
`);
const postCreated = graphql(`subscription { postCreated { title } }`);

test("the types of clients are those of the schema", () => {
  // Where it is not: node packages/portico/test/graphql/service-introspection.ts
  assert.equal(readFileSync(introspectionFile, "utf8"), printIntrospection());
});

onEachDatabase("clients of GraphQL", (database) => {
  const served = serve(database);
  const address = (): string => `${served.url}/graphql`;
  const authorization = (): string => `Bearer ${served.portico.key}`;

  const urql = (): UrqlClient => {
    const socket = createSocketClient({
      url: address().replace("http", "ws"),
      webSocketImpl: WebSocket,
      connectionParams: { authorization: authorization() },
    });
    return new UrqlClient({
      url: address(),
      preferGetMethod: false,
      fetchOptions: { headers: { authorization: authorization() } },
      exchanges: [
        fetchExchange,
        subscriptionExchange({
          forwardSubscription: ({ query, variables }) => ({
            subscribe: (sink) => {
              const payload = { query: query ?? "", ...(variables && { variables }) };
              return {
                unsubscribe: socket.subscribe(payload, {
                  ...sink,
                  next: (value) => sink.next(value as never),
                }),
              };
            },
          }),
        }),
      ],
    });
  };

  test("urql makes, changes, lists and removes a post", async () => {
    const client = urql();
    const made = await client.mutation(createPost, { input: { title: "By urql" } });
    assert.equal(made.error, undefined);
    const { id, status } = made.data!.createPost;
    assert.equal(status, "draft");
    // @ts-expect-error there is no such field in the selection
    assert.equal(made.data!.createPost.colour, undefined);
    const changed = await client.mutation(updatePost, { id, input: { status: "published" } });
    assert.equal(changed.data?.updatePost.status, "published");
    const listed = await client.query(postsOfAll, {});
    assert.equal(listed.data?.posts[0]?.title, "By urql");
    assert.equal(listed.data?.posts[0]?.author.posts[0]?.title, "By urql");
    assert.equal((await client.mutation(deletePost, { id })).data?.deletePost.id, id);
  });

  test("urql walks along pages", async () => {
    const client = urql();
    const titles: string[] = [];
    for (let after: string | null = null; ; ) {
      const page: Awaited<ReturnType<typeof load>> = await load(after);
      titles.push(...page.edges.map(({ node }) => node.title));
      if (!page.pageInfo.hasNextPage) break;
      after = page.pageInfo.endCursor;
    }
    assert.ok(titles.length > 2);
    assert.deepEqual(titles, [...titles].sort());

    async function load(after: string | null) {
      const { data, error } = await client.query(pageOfPosts, { after });
      assert.equal(error, undefined);
      return data!.postsConnection;
    }
  });

  test("urql is told what is wrong, by its code", async () => {
    const { error } = await urql().mutation(createPost, { input: { title: "" } });
    assert.deepEqual(error?.graphQLErrors[0]?.extensions, {
      code: "validation_error",
      details: [{ field: "title", issue: "min" }],
    });
  });

  test("urql is told of posts over the WebSocket of graphql-ws", async () => {
    const told: string[] = [];
    const { unsubscribe } = urql()
      .subscription(postCreated, {})
      .subscribe(({ data }) => void (data && told.push(data.postCreated.title)));
    await createUntilTold("Told to urql", told);
    unsubscribe();
  });

  test("graphql-sse is told of posts, each subscription over a connection of its own", async () => {
    const client = createSseClient({
      url: address(),
      singleConnection: false,
      headers: () => ({ authorization: authorization() }),
    });
    const told: string[] = [];
    const end = client.subscribe<{ postCreated: { title: string } }>(
      { query: "subscription { postCreated { title } }" },
      {
        next: ({ data }) => void (data && told.push(data.postCreated.title)),
        error: (error) => assert.fail(String(error)),
        complete: () => {},
      },
    );
    await createUntilTold("Told to graphql-sse", told);
    end();
    client.dispose();
  });

  /** Nothing tells a client that its subscription has begun. */
  async function createUntilTold(title: string, told: readonly string[]): Promise<void> {
    for (const until = Date.now() + 10_000; Date.now() < until && !told.includes(title); await sleep(100))
      await served.create("/posts", { title });
    assert.ok(told.includes(title), `told: ${told.join()}`);
  }
});

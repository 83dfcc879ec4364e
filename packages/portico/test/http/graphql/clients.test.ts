// GraphQL clients as applications use them, with types generated from the service's schema.

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

test("the generated types match the schema", () => {
  // To update them: node packages/portico/test/graphql/service-introspection.ts
  assert.equal(readFileSync(introspectionFile, "utf8"), printIntrospection());
});

onEachDatabase("GraphQL clients", (database) => {
  const server = serve(database);
  const address = (): string => `${server.url}/graphql`;
  const authorization = (): string => `Bearer ${server.portico.key}`;

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

  test("urql creates, updates, lists and deletes a post", async () => {
    const client = urql();
    const created = await client.mutation(createPost, { input: { title: "By urql" } });
    assert.equal(created.error, undefined);
    const { id, status } = created.data!.createPost;
    assert.equal(status, "draft");
    // @ts-expect-error there is no such field in the selection
    assert.equal(created.data!.createPost.colour, undefined);
    const changed = await client.mutation(updatePost, { id, input: { status: "published" } });
    assert.equal(changed.data?.updatePost.status, "published");
    const listed = await client.query(postsOfAll, {});
    assert.equal(listed.data?.posts[0]?.title, "By urql");
    assert.equal(listed.data?.posts[0]?.author.posts[0]?.title, "By urql");
    assert.equal((await client.mutation(deletePost, { id })).data?.deletePost.id, id);
  });

  test("urql follows cursors from page to page", async () => {
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

  test("urql receives error codes", async () => {
    const { error } = await urql().mutation(createPost, { input: { title: "" } });
    assert.deepEqual(error?.graphQLErrors[0]?.extensions, {
      code: "validation_error",
      details: [{ field: "title", issue: "min" }],
    });
  });

  test("urql subscribes over a graphql-ws WebSocket", async () => {
    const titles: string[] = [];
    const { unsubscribe } = urql()
      .subscription(postCreated, {})
      .subscribe(({ data }) => void (data && titles.push(data.postCreated.title)));
    await createUntilReceived("Sent to urql", titles);
    unsubscribe();
  });

  test("graphql-sse subscribes in distinct connections mode", async () => {
    const client = createSseClient({
      url: address(),
      singleConnection: false,
      headers: () => ({ authorization: authorization() }),
    });
    const titles: string[] = [];
    const end = client.subscribe<{ postCreated: { title: string } }>(
      { query: "subscription { postCreated { title } }" },
      {
        next: ({ data }) => void (data && titles.push(data.postCreated.title)),
        error: (error) => assert.fail(String(error)),
        complete: () => {},
      },
    );
    await createUntilReceived("Sent to graphql-sse", titles);
    end();
    client.dispose();
  });

  /** The protocol does not report that a subscription has started. */
  async function createUntilReceived(title: string, titles: readonly string[]): Promise<void> {
    for (const until = Date.now() + 10_000; Date.now() < until && !titles.includes(title); await sleep(100))
      await server.create("/posts", { title });
    assert.ok(titles.includes(title), `received: ${titles.join()}`);
  }
});

// The hand-written GraphQL server with Mercurius: Fastify, compiled queries (jit), loaders for authors and their posts. It
// checks no key, counts no quota and logs nothing. Runs in a process of its own, started by ../rival.ts.

import fastify from "fastify";
import mercurius from "mercurius";
import { type Author, authorsOf, newestPosts, type Post, postsBy, typeDefs } from "../rival-sqlite.ts";
import { host, reportPort } from "../serve.ts";

interface LoaderQuery<Row, Params = unknown> {
  readonly obj: Row;
  readonly params: Params;
}

const app = fastify();
app.register(mercurius, {
  schema: typeDefs,
  jit: 1,
  resolvers: {
    Query: { posts: (_root: unknown, { limit }: { limit: number }) => newestPosts(limit) },
  },
  loaders: {
    Post: {
      author: async (queries: LoaderQuery<Post>[]) => authorsOf(queries.map(({ obj }) => obj.author_id)),
    },
    User: {
      posts: async (queries: LoaderQuery<Author, { first: number }>[]) =>
        queries.map(({ obj, params }) => postsBy(obj.id, params.first)),
    },
  },
});
await app.listen({ host, port: 0 });
reportPort(app.server);

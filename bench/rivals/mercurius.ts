// The same server by hand with Mercurius: Fastify, compiled queries (jit), its loaders for authors and their posts. It
// checks no key, counts no quota and logs nothing. A process of its own, started by ../rival.ts.

import fastify from "fastify";
import mercurius from "mercurius";
import { type Author, authorsOf, newestPosts, type Post, postsBy, typeDefs } from "../rival-sqlite.ts";
import { host, tellPort } from "../serve.ts";

interface Asked<Row, Given = unknown> {
  readonly obj: Row;
  readonly params: Given;
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
      author: async (asked: Asked<Post>[]) => authorsOf(asked.map(({ obj }) => obj.author_id)),
    },
    User: {
      posts: async (asked: Asked<Author, { first: number }>[]) =>
        asked.map(({ obj, params }) => postsBy(obj.id, params.first)),
    },
  },
});
await app.listen({ host, port: 0 });
tellPort(app.server);

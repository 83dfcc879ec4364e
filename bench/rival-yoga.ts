// A hand-written GraphQL server: graphql-yoga with resolvers, and a DataLoader for authors, on the same SQLite file. It
// checks no key, counts no quota and logs nothing. Runs in a process of its own, started by rival.ts.

import { createServer } from "node:http";
import DataLoader from "dataloader";
import { createSchema, createYoga } from "graphql-yoga";
import { type Author, authorsOf, newestPosts, type Post, postsBy, typeDefs } from "./rival-sqlite.ts";
import { serve } from "./serve.ts";

interface Context {
  readonly authors: DataLoader<string, Author>;
}

const yoga = createYoga<object, Context>({
  logging: false,
  graphiql: false,
  context: () => ({ authors: new DataLoader(async (ids) => authorsOf(ids)) }),
  schema: createSchema<Context>({
    typeDefs,
    resolvers: {
      Query: { posts: (_root, { limit }: { limit: number }) => newestPosts(limit) },
      Post: { author: (post: Post, _args, context) => context.authors.load(post.author_id) },
      User: { posts: (author: Author, { first }: { first: number }) => postsBy(author.id, first) },
    },
  }),
});

serve(
  createServer((request, response) => {
    Promise.resolve(yoga(request, response)).catch((error) => response.destroy(error));
  }),
);

// The GraphQL server that one would write by hand: graphql-yoga, resolvers, DataLoader for authors, on the same SQLite
// file. It checks no key, counts no quota, logs nothing and knows one tenant. A process of its own, started by rival.ts.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import DataLoader from "dataloader";
import { createSchema, createYoga } from "graphql-yoga";

interface Author {
  readonly id: string;
  readonly name: string;
}

interface Post {
  readonly id: string;
  readonly title: string;
  readonly author_id: string;
}

const database = new DatabaseSync(process.argv[2]!, { readOnly: true });
const { id: tenant } = database.prepare("select id from tenants").get() as { id: string };
const newest = database.prepare(
  "select id, title, author_id from posts where tenant_id = ? order by created_at desc, id desc limit ?",
);
const byAuthor = database.prepare(
  "select id, title, author_id from posts where tenant_id = ? and author_id = ? order by created_at desc, id desc limit ?",
);
const authors = database.prepare(
  "select id, name from users where tenant_id = ? and id in (select value from json_each(?))",
);

/** The columns of each statement are those of the types. */
const rowsOf = <T>(rows: unknown): readonly T[] => rows as readonly T[];

function authorLoader(): DataLoader<string, Author> {
  return new DataLoader(async (ids) => {
    const found = rowsOf<Author>(authors.all(tenant, JSON.stringify(ids)));
    return ids.map((id) => found.find((author) => author.id === id)!);
  });
}

interface Context {
  readonly authors: DataLoader<string, Author>;
}

const yoga = createYoga<object, Context>({
  logging: false,
  graphiql: false,
  context: () => ({ authors: authorLoader() }),
  schema: createSchema<Context>({
    typeDefs: /* GraphQL */ `
      type User {
        id: ID!
        name: String!
        posts(first: Int = 10): [Post!]!
      }
      type Post {
        id: ID!
        title: String!
        author: User!
      }
      type Query {
        posts(limit: Int = 10): [Post!]!
      }
    `,
    resolvers: {
      Query: { posts: (_root, { limit }: { limit: number }) => rowsOf<Post>(newest.all(tenant, limit)) },
      Post: { author: (post: Post, _given, context) => context.authors.load(post.author_id) },
      User: {
        posts: (author: Author, { first }: { first: number }) =>
          rowsOf<Post>(byAuthor.all(tenant, author.id, first)),
      },
    },
  }),
});

const server = createServer(yoga);
// The bench is gone, whichever way it went.
process.once("disconnect", () => process.exit(0));
server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port));

// Shared by the hand-written GraphQL servers: a schema, and prepared statements on the SQLite file that the bench has
// filled. They serve one tenant.

import { DatabaseSync } from "node:sqlite";

export interface Author {
  readonly id: string;
  readonly name: string;
}

export interface Post {
  readonly id: string;
  readonly title: string;
  readonly author_id: string;
}

export const typeDefs = /* GraphQL */ `
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
`;

const database = new DatabaseSync(process.argv[2]!, { readOnly: true });
const { no: tenant } = database.prepare("select no from tenants").get() as { no: number };
const newest = database.prepare(
  "select id, title, author_id from posts where tenant_no = ? order by created_at desc, id desc limit ?",
);
const byAuthor = database.prepare(
  "select id, title, author_id from posts where tenant_no = ? and author_id = ? order by created_at desc, id desc limit ?",
);
const authors = database.prepare(
  "select id, name from users where tenant_no = ? and id in (select value from json_each(?))",
);

/** The columns of each statement are those of the types. */
const rowsOf = <T>(rows: unknown): T[] => rows as T[];

export function newestPosts(limit: number): Post[] {
  return rowsOf(newest.all(tenant, limit));
}

export function postsBy(authorId: string, limit: number): Post[] {
  return rowsOf(byAuthor.all(tenant, authorId, limit));
}

/** @returns one for each id, in their order */
export function authorsOf(ids: readonly string[]): Author[] {
  const rows = rowsOf<Author>(authors.all(tenant, JSON.stringify(ids)));
  return ids.map((id) => rows.find((author) => author.id === id)!);
}

// A hand-written service that creates posts: Fastify and pg, one prepared insert with `returning`. Its table has a primary
// key and the indexes of the pages that the bench requests: newest, by status, by author. It checks no key, counts no
// quota, records no event and logs nothing. Runs in a process of its own, started by ../rival.ts, on a table of its own
// with as many posts as Portico's.

import fastify from "fastify";
import pg from "pg";
import { newPostId } from "../row-id.ts";
import { host, reportPort } from "../serve.ts";

const [connectionString, , authorId] = process.argv.slice(2);
const schema = new URL(connectionString!).searchParams.get("search_path")!;
const pool = new pg.Pool({ connectionString, options: `-c search_path=${schema}` });

await pool.query(`
  create table posts_by_hand (
    id text primary key,
    title text not null,
    body text not null,
    status text not null,
    author_id text not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  );
  insert into posts_by_hand select id, title, body, status, author_id, created_at, updated_at from posts;
  create index on posts_by_hand (created_at, id);
  create index on posts_by_hand (status, created_at, id);
  create index on posts_by_hand (author_id, created_at, id);
`);

const insert = {
  name: "insert",
  text: `insert into posts_by_hand (id, title, body, status, author_id) values ($1, $2, $3, $4, $5)
    returning id, title, body, status, author_id as "authorId", created_at as "createdAt", updated_at as "updatedAt"`,
};

interface Body {
  readonly title: string;
  readonly body: string;
  readonly status: string;
}

const server = fastify();

server.post<{ Body: Body }>("/posts", async ({ body: { title, body, status } }, reply) => {
  const { rows } = await pool.query({
    ...insert,
    values: [newPostId(), title, body, status, authorId],
  });
  return reply.code(201).send(rows[0]);
});

await server.listen({ host, port: 0 });
reportPort(server.server);

// What a service without a framework does to create a post: node:http, and one insert into a table with nothing but its
// primary key, committed to disk before the response. It checks no key, counts no quota, validates nothing, records no
// event and logs nothing. Runs in a process of its own, started by rival.ts, on a file of its own beside Portico's, with
// as many posts.

import { createServer, type IncomingMessage } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { newPostId } from "./row-id.ts";
import { serve } from "./serve.ts";

const [file, , authorId] = process.argv.slice(2);
const database = new DatabaseSync(`${file}.by-hand`);
database.exec(`
  pragma journal_mode = wal;
  pragma synchronous = full;
  create table posts (
    id text primary key,
    title text not null,
    body text not null,
    status text not null,
    author_id text not null,
    created_at text not null,
    updated_at text not null
  );
  attach '${file}' as portico;
  insert into posts select id, title, body, status, author_id, created_at, updated_at from portico.posts;
  detach portico;
`);
const insert = database.prepare("insert into posts values (?, ?, ?, ?, ?, ?, ?)");

const server = createServer((request, response) => {
  // handled: a request whose body breaks off has no response.
  textOf(request).then(
    (text) => {
      const { title, body, status } = JSON.parse(text);
      const id = newPostId();
      const createdAt = new Date().toISOString();
      insert.run(id, title, body, status, authorId!, createdAt, createdAt);
      const row = JSON.stringify({ id, title, body, status, authorId, createdAt, updatedAt: createdAt });
      response.writeHead(201, {
        "Content-Type": "application/json",
        "Content-Length": Buffer.byteLength(row),
      });
      response.end(row);
    },
    () => {},
  );
});

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

serve(server);

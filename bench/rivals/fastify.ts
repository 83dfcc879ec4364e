// A hand-written REST server: Fastify and pg with prepared statements, one tenant's posts, keyset pagination. It checks no
// key, counts no quota and logs nothing. Runs in a process of its own, started by ../rival.ts.

import fastify from "fastify";
import pg from "pg";
import { host, reportPort } from "../serve.ts";

const [connectionString, tenantNo] = process.argv.slice(2);
const schema = new URL(connectionString!).searchParams.get("search_path")!;
const pool = new pg.Pool({ connectionString, options: `-c search_path=${schema}` });

const columns =
  'id, title, body, status, author_id as "authorId", created_at as "createdAt", updated_at as "updatedAt"';
const one = {
  name: "one",
  text: `select ${columns} from posts where tenant_no = $1 and id = $2`,
};
const page = {
  name: "page",
  text: `select ${columns} from posts where tenant_no = $1 order by created_at desc, id desc limit $2`,
};
const defaultLimit = 20;

const server = fastify();

server.get<{ Params: { id: string } }>("/posts/:id", async ({ params }, reply) => {
  const { rows } = await pool.query({ ...one, values: [tenantNo, params.id] });
  return rows[0] ?? reply.code(404).send({ error: { code: "not_found" } });
});

server.get<{ Querystring: { limit?: string } }>("/posts", async ({ query }) => {
  const limit = Number(query.limit ?? defaultLimit);
  const { rows } = await pool.query({ ...page, values: [tenantNo, limit + 1] });
  const data = rows.slice(0, limit);
  const hasMore = rows.length > limit;
  const { createdAt, id } = data.at(-1);
  const cursor = Buffer.from(JSON.stringify([createdAt, id])).toString("base64url");
  return { data, pagination: { nextCursor: hasMore ? cursor : null, hasMore } };
});

await server.listen({ host, port: 0 });
reportPort(server.server);

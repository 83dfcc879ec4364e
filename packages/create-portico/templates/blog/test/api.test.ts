import { deepEqual, equal, rejects } from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createServer, type Server } from "portico";
import { type Client, createClient } from "portico/client";
import app from "../portico.config.ts";

const folder = mkdtempSync(join(tmpdir(), "{{name}}-"));
let server: Server;
/** Has a key with every scope. */
let owner: Client<typeof app>;
/** Has no credential. */
let visitor: Client<typeof app>;

before(async () => {
  server = await createServer(app, { databaseUrl: `file:${join(folder, "test.db")}` });
  await server.start();
  owner = clientWith(server.sandboxKey);
  visitor = clientWith();
});

after(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

/** Its requests need no port. */
function clientWith(credential?: string): Client<typeof app> {
  const { url: baseUrl } = server;
  return createClient<typeof app>({ baseUrl, credential, fetch: (input, init) => server.fetch(input, init) });
}

test("a post is public with its comments once it is published", async () => {
  const post = await owner.posts.create({ title: "Note G" });
  const comment = await owner.posts(post.id).comments.create({ body: "Well computed." });
  await rejects(visitor.posts.get(post.id), { code: "not_found" });

  await owner.posts.update(post.id, { status: "published" });
  equal((await visitor.posts.get(post.id)).title, "Note G");
  const { data } = await visitor.posts(post.id).comments.list({ fields: ["body"] });
  deepEqual(data, [{ id: comment.id, body: "Well computed." }]);
});

test("nobody writes without a credential", async () => {
  await rejects(visitor.posts.create({ title: "Mine" }), { code: "authentication_required" });
});

test("a post needs a title", async () => {
  await rejects(owner.posts.create({ title: "" }), {
    code: "validation_error",
    details: [{ field: "title", issue: "min" }],
  });
});

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
/** Has a key with every scope. Its requests need no port. */
let client: Client<typeof app>;

before(async () => {
  server = await createServer(app, { databaseUrl: `file:${join(folder, "test.db")}` });
  await server.start();
  client = createClient<typeof app>({
    baseUrl: server.url,
    credential: server.sandboxKey,
    fetch: (input, init) => server.fetch(input, init),
  });
});

after(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

test("a note is created, and found by its status and its words", async () => {
  const note = await client.notes.create({ title: "Paint the door" });
  equal(note.status, "open");
  const { data } = await client.notes.list({ status: "open", q: "door", fields: ["title"] });
  deepEqual(data, [{ id: note.id, title: "Paint the door" }]);
});

test("a note needs a title", async () => {
  await rejects(client.notes.create({ title: "" }), {
    code: "validation_error",
    details: [{ field: "title", issue: "min" }],
  });
});

// Servers that answer requests of their own process, and of other HTTP servers.

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { app, createServer, resource, type Server, text, users } from "../../../src/index.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../../support/server.ts";

const notes = resource("note", {
  fields: { title: text({ max: 2_000_000 }), author: text({ max: 50, optional: true }) },
  policy: ({ caller }) => caller.role !== "member" || { author: caller.userId },
  hooks: { before: { create: ({ title }) => ({ title: title.trim() }) } },
});
const declared = app({ name: "Notes", resources: [notes] });

onEachDatabase("servers without a port", (database) => {
  let workspace: Workspace;
  let server: Server;
  let key: string;
  const create = () => createServer(declared, { databaseUrl: workspace.databaseUrl, port: 0 });

  before(async () => {
    workspace = await makeWorkspace(database);
    server = await create();
    await rejects(server.fetch("/notes"), /before it listens or is started/);
    await Promise.all([server.start(), server.start()]);
    key = server.sandboxKey!;
  });
  after(async () => {
    await server.close();
    await workspace.remove();
  });

  const headers = () => ({ authorization: `Bearer ${key}`, "content-type": "application/json" });
  const post = (body: object) =>
    server.fetch("/v1/notes", { method: "POST", headers: headers(), body: JSON.stringify(body) });

  test("fetch answers as a request over the network does", async () => {
    const created = await post({ title: " Written " });
    equal(created.status, 201);
    const { id, title } = (await created.json()) as Record<string, string>;
    equal(title, "Written");
    const read = await server.fetch(
      new Request(`http://example.com/notes/${id}?fields=title`, { headers: headers() }),
    );
    deepEqual([read.status, await read.json()], [200, { id, title: "Written" }]);
    ok(read.headers.get("etag") && read.headers.get("x-request-id") && read.headers.get("ratelimit"));
    const none = { ...headers(), "if-none-match": read.headers.get("etag")! };
    deepEqual((await server.fetch(`/notes/${id}?fields=title`, { headers: none })).status, 304);
    const head = await server.fetch(`/notes/${id}`, { method: "HEAD", headers: headers() });
    deepEqual([head.status, await head.text()], [200, ""]);
    equal((await server.fetch(`/notes/${id}`, { method: "DELETE", headers: headers() })).status, 204);
    const refused = await server.fetch("/notes", { headers: { authorization: "Bearer sk_test_x" } });
    equal(refused.status, 401);
    equal((await server.fetch("/nothing")).status, 404);
    equal((await server.fetch("/oauth/jwks")).status, 200);
  });

  test("large bodies pass in both directions, and those beyond the limit are refused", async () => {
    const title = "é".repeat(400_000);
    const created = await post({ title });
    equal(((await created.json()) as { title: string }).title, title);
    const refused = await post({ title: "a".repeat(1_100_000) });
    equal(refused.status, 413);
    match(await refused.text(), /"code":"payload_too_large"/);
  });

  test("many requests run at once, and one can be aborted", async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => post({ title: `N${index}` })));
    ok(answers.every(({ status }) => status === 201));
    await Promise.all(answers.map((each) => each.text()));
    const stream = await server.fetch("/graphql", {
      method: "POST",
      headers: { ...headers(), accept: "text/event-stream" },
      body: JSON.stringify({ query: "subscription { noteChanged { __typename } }" }),
    });
    await stream.body?.cancel();
    const aborted = AbortSignal.abort();
    await rejects(server.fetch("/notes", { headers: headers(), signal: aborted }), { name: "AbortError" });
  });

  test("another HTTP server passes requests on", async () => {
    const outer = createHttpServer((request, response) => {
      if (request.url === "/own") response.end("own");
      else server.handle(request, response);
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => outer.once("listening", resolve));
    const url = `http://127.0.0.1:${(outer.address() as AddressInfo).port}`;
    equal(await (await fetch(`${url}/own`)).text(), "own");
    const body = JSON.stringify({ title: "Outer" });
    equal((await fetch(`${url}/notes`, { method: "POST", headers: headers(), body })).status, 201);
    const broken = await fetch(`${url}/notes`, { method: "POST", headers: headers(), body: "{" });
    deepEqual(
      [broken.status, ((await broken.json()) as { error: { code: string } }).error.code],
      [400, "malformed_request"],
    );
    equal((await fetch(`${url}/notes`)).status, 401);
    outer.closeAllConnections();
    outer.close();
  });

  test("code runs on rows as the system or as a user, in one transaction", async () => {
    const { author, id } = await server.transaction({}, async (rows) => {
      const user = await rows.create(users, { name: "Bo", email: "bo@example.com" });
      const note = await rows.create(notes, { title: " By code ", author: user.id });
      equal(note.title, "By code");
      return { author: user.id, id: note.id };
    });
    const other = await server.transaction({}, (rows) => rows.create(notes, { title: "Hidden" }));
    for (const user of [author, "bo@example.com"])
      await server.transaction({ user }, async (rows) => {
        ok(await rows.get(notes, id));
        equal(await rows.get(notes, other.id), undefined);
        ok(await rows.unrestricted.get(notes, other.id));
        await rejects(rows.update(notes, id, { author: "somebody" }), { code: "forbidden" });
      });
    await rejects(
      server.transaction({}, async (rows) => {
        await rows.update(notes, id, { title: "Undone" });
        throw new Error("stop");
      }),
      { message: "stop" },
    );
    const kept = await server.transaction({}, (rows) => rows.get(notes, id));
    equal(kept?.title, "By code");
    await rejects(
      server.transaction({ user: "nobody@example.com" }, async () => {}),
      /no active user nobody@/,
    );
    await rejects(
      server.transaction({ tenant: "tenant_1" }, async () => {}),
      /there is no tenant tenant_1/,
    );
  });

  test("a server that is started does not listen, and a closed one answers nothing", async () => {
    await rejects(server.listen(), /was started without listening/);
    const another = await create();
    await another.start();
    const slow = another.fetch("/notes", { headers: headers() });
    await another.close();
    equal((await slow).status, 200);
    await rejects(another.fetch("/notes"), { message: "the server is closed; create another one" });
    await rejects(another.start(), { message: "the server is closed; create another one" });
  });
});

// Exports that are read slowly, while rows and rights change.

import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import postgres from "postgres";
import { app } from "../../../src/declare/app.ts";
import { text } from "../../../src/declare/field.ts";
import { resource } from "../../../src/declare/resource.ts";
import { makeKey } from "../../support/keys.ts";
import { makeTenant, TestServer } from "../../support/scenario.ts";
import { makeWorkspace, onEachDatabase, Portico } from "../../support/server.ts";

const pages = resource("page", {
  fields: { title: text({ max: 20 }), body: text({ max: 100_000 }) },
});
const declared = app({
  name: "Pages",
  resources: [pages],
  roles: { owner: "*", reader: ["pages:read"], guest: [] },
});

/** More than systems buffer, and compressed still some megabytes. */
const count = 150;
const body = Array.from({ length: 12_500 }, () => Math.random().toString(36).slice(2, 9)).join(" ");

onEachDatabase("exports that are interrupted", (database) => {
  const server = new TestServer();
  before(async () => {
    server.workspace = await makeWorkspace(database);
    server.portico = await Portico.startApp(server.workspace, declared);
    const lines = Array.from({ length: count }, (_, index) =>
      JSON.stringify({ title: `page ${index}`, body: body.slice(index) }),
    );
    const headers = { "content-type": "application/x-ndjson" };
    const filled = await server.request("/v1/imports/pages", {
      method: "POST",
      body: lines.join("\n"),
      headers,
    });
    assert.equal(filled.body.created, count);
  });
  after(async () => {
    await server.portico?.stop();
    await server.workspace?.remove();
  });

  /** The response of an export, which nobody reads yet. */
  const open = async (key = server.portico.key, headers = {}): Promise<IncomingMessage> => {
    const options = { headers: { "X-API-Key": key, ...headers }, agent: new Agent() };
    const sent = request(`${server.url}/v1/exports/pages`, options).end();
    const [response] = await once(sent, "response");
    return response;
  };
  /** The same, once the exports before have ended. */
  const openInTurn = async (...options: Parameters<typeof open>): Promise<IncomingMessage> => {
    let response = await open(...options);
    for (
      const until = Date.now() + 10_000;
      response.statusCode === 429 && Date.now() < until;
      await sleep(20)
    )
      response = await open(...options);
    assert.equal(response.statusCode, 200);
    return response;
  };
  const readAll = async (response: IncomingMessage): Promise<{ bytes: Buffer; isComplete: boolean }> => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk) => chunks.push(chunk));
    // What is cut off ends with the error `aborted`.
    await once(response, "close").catch(() => {});
    return { bytes: Buffer.concat(chunks), isComplete: response.complete };
  };
  const titlesOf = (ndjson: Buffer): string[] =>
    ndjson
      .toString()
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line).title);

  test("has the rows of the time when it began", async () => {
    const response = await open();
    const { data } = (await server.request("/pages?limit=3&fields=title")).body;
    const added = await server.create("/pages", { title: "new", body: "" });
    await server.request(`/pages/${data[0].id}`, { method: "PATCH", body: { title: "changed" } });
    await server.request(`/pages/${data[1].id}`, { method: "DELETE" });
    const { bytes, isComplete } = await readAll(response);
    assert.equal(isComplete, true);
    const expected = Array.from({ length: count }, (_, index) => `page ${index}`);
    assert.deepEqual(titlesOf(bytes), expected);
    const later = titlesOf(await buffer(await open()));
    assert.deepEqual(
      new Set(later).symmetricDifference(new Set(expected)),
      new Set(["new", "changed", data[0].title, data[1].title]),
    );
    await server.request(`/pages/${added.id}`, { method: "DELETE" });
  });

  test("runs twice for a tenant, and others beside it, until its reader is gone", async () => {
    const other = await makeTenant(server.workspace, "*");
    const cookie = { cookie: "session=private" };
    const mine = [await openInTurn(undefined, cookie), await openInTurn(undefined, cookie)];
    const refused = await open();
    assert.deepEqual([refused.statusCode, refused.headers["retry-after"]], [429, "30"]);
    assert.equal((await open(other.key)).statusCode, 200);
    for (const each of mine) each.destroy();
    (await openInTurn()).destroy();
    assert.match(server.portico.output, /"res":{"statusCode":200},"msg":"stream closed prematurely"/);
    assert.doesNotMatch(server.portico.output, /session=private/);
  });

  test("is cut off when its credential loses its rights", async () => {
    const { id } = await server.create("/users", { name: "Ann", email: "ann@example.com", role: "reader" });
    const demoted = await makeKey(server, { scopes: ["*"], ownerId: id });
    const revoked = await makeKey(server, { scopes: ["pages:read"] });
    const running = [
      await openInTurn(demoted.key),
      await openInTurn(revoked.key, { "Accept-Encoding": "gzip" }),
    ];
    assert.deepEqual(
      running.map(({ statusCode }) => statusCode),
      [200, 200],
    );
    await server.request(`/users/${id}`, { method: "PATCH", body: { role: "guest" } });
    await server.request(`/v1/api-keys/${revoked.id}`, { method: "DELETE" });
    // The credential is checked every second.
    await sleep(1_000);
    const [plain, compressed] = await Promise.all(running.map(readAll));
    assert.deepEqual([plain!.isComplete, compressed!.isComplete], [false, false]);
    assert.ok(plain!.bytes.length < count * body.length * 0.9, `${plain!.bytes.length} bytes came`);
    assert.throws(() => gunzipSync(compressed!.bytes), /unexpected end of file/);
    assert.equal(server.portico.output.match(/an export was cut off/g)?.length, 2);
  });

  if (database === "postgres")
    test("is cut off when the database fails, and ends its statement when its reader leaves", async () => {
      const sql = postgres(server.workspace.databaseUrl, { max: 1 });
      // Those of exports, which may be fetching further rows or waiting for their reader.
      const reading = sql`datname = current_database() and query like 'fetch %'`;
      try {
        const failing = await openInTurn();
        const ended = await sql`select pg_terminate_backend(pid) from pg_stat_activity where ${reading}`;
        assert.notEqual(ended.length, 0);
        assert.equal((await readAll(failing)).isComplete, false);
        const left = await openInTurn();
        left.destroy();
        while ((await sql`select 1 from pg_stat_activity where ${reading}`).length > 0) await sleep(20);
      } finally {
        await sql.end();
      }
    });
});

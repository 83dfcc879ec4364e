// Imports that end before their last line, and imports beside other requests.

import assert from "node:assert/strict";
import { test } from "node:test";
import { group, linesOf, ndjson, serveImports, until } from "../../support/imports.ts";
import { makeKey } from "../../support/keys.ts";
import { RawConnection } from "../../support/raw-connection.ts";
import { onEachDatabase } from "../../support/server.ts";

onEachDatabase("imports that are interrupted", (database) => {
  const server = serveImports(database);
  /** Waits until the first group of an import is written. */
  const firstGroup = async (title: string): Promise<void> => {
    await until(async () => (await server.count(`title=${title}`)) > 0);
  };

  test("a credential that is revoked while the import runs ends it", async () => {
    const { key, id } = await makeKey(server, { scopes: ["notes:write"] });
    const running = server.open("notes", key);
    running.write(group({ title: "revoked" }));
    await firstGroup("revoked");
    await server.request(`/api-keys/${id}`, { method: "DELETE" });
    const { status, body } = await running.end(group({ title: "revoked" }));
    assert.equal(status, 401);
    assert.partialDeepStrictEqual(body, { error: { code: "invalid_credential" }, created: 250 });
    assert.equal((await server.all("revoked")).length, 250);
  });

  test("a credential that is revoked before the first group is complete writes nothing", async () => {
    const { key, id } = await makeKey(server, { scopes: ["notes:write"] });
    const [running, atomic] = [server.open("notes", key), server.open("notes?atomic=true", key)];
    for (const each of [running, atomic]) each.write([{ title: "late" }]);
    await Promise.all([running.begun, atomic.begun]);
    await server.request(`/api-keys/${id}`, { method: "DELETE" });
    for (const each of [running, atomic]) {
      const { status, body } = await each.end([{ title: "late" }]);
      assert.partialDeepStrictEqual([status, body.created], [401, 0]);
    }
    assert.equal(await server.count("title=late"), 0);
  });

  test("a demotion counts from the next group on", async () => {
    const { id, key } = await server.member("dan");
    const running = server.open("notes", key);
    running.write(group({ title: "demoted" }));
    await firstGroup("demoted");
    const demotion = { method: "PATCH", body: { role: "reader" } };
    assert.equal((await server.request(`/users/${id}`, demotion)).status, 200);
    const { status, body } = await running.end(group({ title: "demoted" }));
    assert.equal(status, 403);
    assert.partialDeepStrictEqual(body, { error: { code: "insufficient_scope" }, created: 250 });
    assert.equal((await server.all("demoted")).length, 250);
  });

  test("an import that is cut off leaves complete groups only", async () => {
    const running = server.open("notes");
    running.write(linesOf(group({ title: "cut" })) + linesOf(group({ title: "cut" }).slice(0, 100)));
    await firstGroup("cut");
    running.cut();
    // A slow group is committed in parts.
    await until(async () => (await server.all("cut")).length >= 250);
    assert.equal((await server.send("notes", [{ title: "later" }])).body.created, 1);
    assert.equal((await server.all("cut")).length, 250);
  });

  test("the connection of an import that ended early serves the next request", async () => {
    const lines = linesOf([{ title: "" }]).repeat(10_001);
    const connection = await RawConnection.open(server.url);
    const headers = { Authorization: `Bearer ${server.portico.key}`, "Content-Type": ndjson };
    connection.request("POST /v1/imports/notes?atomic=true", headers, lines + " ".repeat(300_000));
    connection.request("GET /healthz");
    await connection.until(/ 413 .*"payload_too_large".* 200 OK.*"status":"ok"/s);
    connection.close();
  });

  test("an import whose client is gone before it begins leaves its slot to others", async () => {
    const headers = { Authorization: `Bearer ${server.portico.key}`, "Content-Type": ndjson };
    for (let count = 0; count < 12; count += 1) {
      const connection = await RawConnection.open(server.url);
      connection.request("POST /v1/imports/notes?progress=true", headers, "");
      connection.socket.resetAndDestroy();
    }
    await until(async () => (await server.send("notes", "")).status === 200);
  });

  test("two imports of a tenant run at once, and a third is refused until one ends", async () => {
    const [one, other] = [server.open("notes"), server.open("notes")];
    for (const each of [one, other]) each.write(group({ title: "parallel" }));
    await until(async () => (await server.all("parallel")).length === 500);
    const refused = await server.send("notes", "");
    assert.deepEqual([refused.status, refused.body.error.code], [429, "rate_limited"]);
    assert.ok(Number(refused.headers.get("retry-after")) > 0);
    const ends = await Promise.all([one.end(group({ title: "parallel" })), other.end()]);
    assert.deepEqual(
      ends.map(({ body }) => body.created),
      [500, 250],
    );
    assert.equal((await server.all("parallel")).length, 750);
    assert.equal((await server.send("notes", "")).status, 200);
  });

  test("an import ends whose credential has no quota for a minute", async () => {
    const rateLimit = { limit: 2, windowSeconds: 7_200 };
    const { key } = await makeKey(server, { scopes: ["notes:write"], rateLimit });
    const { status, headers, body } = await server.send("notes", group({ title: "" }).concat(group({})), {
      key,
    });
    assert.deepEqual([status, body.error.code, body.failed], [429, "rate_limited", 250]);
    assert.ok(Number(headers.get("retry-after")) > 60);
  });

  test("lines that are refused undo nothing of what others write at the same time", async () => {
    const rows = Array.from({ length: 60 }, (_, index) => ({
      title: "beside",
      slug: `beside-${index % 40}`,
    }));
    const [imported, atomic, ...created] = await Promise.all([
      server.send("notes", rows),
      server.send(
        "notes?atomic=true",
        [...rows, { title: "" }].map((each) => ({ ...each, slug: undefined })),
      ),
      ...Array.from({ length: 40 }, (_, index) =>
        server.request("/notes", { body: { title: "beside", slug: `single-${index}` } }),
      ),
    ]);
    assert.deepEqual([imported.body.created, imported.body.failed], [40, 20], imported.text);
    assert.deepEqual([atomic.status, atomic.body.created], [422, 0]);
    assert.ok(created.every(({ status }) => status === 201));
    assert.equal((await server.all("beside")).length, 80);
  });

  test("a server that is closed ends imports, and says what they wrote", async () => {
    const running = server.open("notes");
    running.write(group({ title: "closed" }));
    await firstGroup("closed");
    const [stopped, { status, body }] = await Promise.all([server.portico.stop(), running.response()]);
    assert.deepEqual([stopped, status, body.error.code], [0, 503, "unavailable"]);
    assert.equal(body.created, 250);
  });
});

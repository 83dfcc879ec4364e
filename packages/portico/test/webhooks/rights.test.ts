// Whose events an endpoint gets: attacks on rows that its credential may not see, over HTTP.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventRetention } from "../../src/events/purged-events.ts";
import { Purge } from "../../src/jobs/purge.ts";
import { openStore } from "../../src/store/open.ts";
import { areEventsNeeded } from "../../src/webhooks/needed-events.ts";
import { countDirectly } from "../support/database-reader.ts";
import { makeTenant } from "../support/scenario.ts";
import { onEachDatabase } from "../support/server.ts";
import { until } from "../support/webhook-receiver.ts";
import { serveWebhooks } from "../support/webhooks.ts";

const types = ["*"];

onEachDatabase("whose events an endpoint gets", (database) => {
  const {
    server,
    receiver,
    endpointAt,
    endpoint: read,
    deliveriesOf,
  } = serveWebhooks(database, { env: { PORTICO_WEBHOOK_SCHEDULE: "0,1,1,1,1" } });
  const newKey = (scopes: string): Promise<{ id: string; key: string }> =>
    server.command("key", "create", "--name", "Webhooks", "--scopes", scopes);
  const endpoint = (path: string, key?: string) => endpointAt(path, types, key === undefined ? {} : { key });

  test("only those whose resource its scopes let it read, and never another tenant's", async () => {
    const other = await makeTenant(server.workspace, "posts:read,posts:write,webhooks:manage");
    const { key } = await newKey("posts:read,webhooks:manage");
    await endpoint("/scopes", key);
    await endpoint("/other", other.key);
    const project = await server.create("/projects", { name: "Hidden" });
    const post = await server.create("/posts", { title: "Visible" });
    const theirs = await server.create("/posts", { title: "Theirs" }, { key: other.key });
    const [seen] = await receiver.waitFor("/scopes");
    await receiver.waitFor("/other");
    assert.equal(seen!.body.data.id, post.id);
    const sent = JSON.stringify(receiver.at("/scopes").map(({ text }) => text));
    assert.ok(!sent.includes(project.id) && !sent.includes(theirs.id));
    assert.deepEqual(
      receiver.at("/other").map(({ body }) => body.data.id),
      [theirs.id],
    );
    const foreign = await endpoint("/foreign");
    for (const path of ["", "/rotations", "/tests", "/replays"]) {
      const request = {
        key: other.key,
        method: path === "" ? "PATCH" : "POST",
        body: { from: "2026-01-01" },
      };
      const { status } = await server.request(`/v1/webhook-endpoints/${foreign.id}${path}`, request);
      assert.ok([404, 422].includes(status), `${path} ${status}`);
    }
  });

  test("no secret reaches an event, a list or a delivery", async () => {
    const { id, secret } = await endpoint("/secrets");
    await server.request(`/v1/webhook-endpoints/${id}`, {
      method: "PATCH",
      body: { description: "Changed" },
    });
    const received = await receiver.waitFor("/secrets", 2);
    assert.deepEqual(
      received.map(({ body }) => body.type),
      ["webhook_endpoint.created", "webhook_endpoint.updated"],
    );
    const { text } = await server.request("/v1/webhook-endpoints");
    for (const shown of [text, ...received.map((each) => each.text)]) {
      assert.ok(!shown.includes(secret) && !/encrypted|principal|startSequence/.test(shown), shown);
    }
  });

  test("an endpoint whose key is revoked is disabled, with an email, even while a delivery waits", async () => {
    const { id: keyId, key } = await newKey("posts:read,webhooks:manage");
    receiver.respond = (response) => void response.writeHead(500).end();
    const { id } = await endpoint("/revoked", key);
    await server.create("/posts", { title: "Retried" });
    await receiver.waitFor("/revoked");
    await server.request(`/v1/api-keys/${keyId}`, { method: "DELETE" });
    const disabled = await until(read, id, ({ status }) => status === "disabled");
    assert.equal(disabled.disabledReason, "credential_revoked");
    receiver.respond = (response) => void response.writeHead(204).end();
    const { mails } = await server.command("mail", "list");
    assert.ok(mails.some(({ kind }: { kind: string }) => kind === "webhook_endpoint.disabled"));
    const taken = { url: `${receiver.url}/taken`, status: "enabled" };
    const { body } = await server.request(`/v1/webhook-endpoints/${id}`, { method: "PATCH", body: taken });
    assert.deepEqual([body.status, body.disabledReason], ["enabled", null]);
    await server.create("/posts", { title: "Taken over" });
    await receiver.waitFor("/taken", 2);
  });

  test("a rotated key keeps its endpoint; one that loses a scope gets nothing more", async () => {
    const { id: keyId, key } = await newKey("posts:read,projects:read,webhooks:manage");
    const { id } = await endpoint("/rotated", key);
    const replacement = await server.create(`/v1/api-keys/${keyId}/rotations`, { overlapSeconds: 0 });
    const first = await server.create("/projects", { name: "First" });
    await receiver.waitFor("/rotated");
    receiver.respond = (response) => void response.writeHead(500).end();
    const second = await server.create("/projects", { name: "Second" });
    await receiver.waitFor("/rotated", 2);
    const scopes = ["posts:read", "webhooks:manage"];
    await server.request(`/v1/api-keys/${replacement.id}`, { method: "PATCH", body: { scopes } });
    const ended = await until(deliveriesOf, id, (all) =>
      all.some(({ status }: { status: string }) => status === "failed"),
    );
    assert.match(
      ended.find(({ status }: { status: string }) => status === "failed").lastError,
      /may no longer see the row/,
    );
    receiver.respond = (response) => void response.writeHead(204).end();
    assert.equal((await read(id)).status, "enabled");
    const ids = receiver.at("/rotated").map(({ body }) => body.data.id);
    assert.deepEqual([...new Set(ids)], [first.id, second.id]);
  });

  test("nothing is sent for a tenant that was deleted", async () => {
    const { id: tenant, key } = await makeTenant(server.workspace, "posts:read,posts:write,webhooks:manage");
    receiver.respond = (response) => void response.writeHead(500).end();
    const { id } = await endpoint("/deleted", key);
    await server.create("/posts", { title: "Theirs" }, { key });
    await receiver.waitFor("/deleted", 2);
    await server.command("tenant", "delete", tenant, "--confirm", "Another");
    receiver.respond = (response) => void response.writeHead(204).end();
    const { length } = receiver.at("/deleted");
    const { databaseUrl } = server.workspace;
    for (const rows of ["endpoints where id", "queues where id", "deliveries where endpoint_id"])
      assert.equal(await countDirectly(databaseUrl, `select count(*) from webhook_${rows} = '${id}'`), 0);
    await endpoint("/undeleted");
    await server.create("/posts", { title: "Ours" });
    await receiver.waitFor("/undeleted");
    assert.equal(receiver.at("/deleted").length, length);
  });

  test("old events are not deleted while a delivery is pending", async () => {
    receiver.respond = (response) => void response.writeHead(503, { "retry-after": "600" }).end();
    const { id } = await endpoint("/kept");
    const post = await server.create("/posts", { title: "Kept" });
    await until(deliveriesOf, id, (all) => all.some(({ attempts }: { attempts: number }) => attempts > 0));
    const store = await openStore(server.workspace.databaseUrl, { slowReadMs: 1_000 });
    const policy = { ...eventRetention(store, 0, [areEventsNeeded]), retentionMs: -60_000 };
    await new Purge(store, [policy], (message) => assert.fail(message)).purgeAll();
    await store.database.close();
    const { body } = await server.request("/v1/events?type=post.created&limit=100");
    assert.ok(body.data.some(({ resourceId }: { resourceId: string }) => resourceId === post.id));
    assert.ok(body.data.every(({ data }: { data: { title: string } }) => data.title !== "Visible"));
    receiver.respond = (response) => void response.writeHead(204).end();
  });
});

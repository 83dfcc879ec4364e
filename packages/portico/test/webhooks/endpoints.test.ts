// How webhook endpoints are managed: what is refused, rotations, tests, replays and commands, over HTTP.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { endpointUrlError } from "../../src/webhooks/endpoint-url.ts";
import { countDirectly, writeDirectly } from "../support/database-reader.ts";
import { freePort } from "../support/free-port.ts";
import { onEachDatabase, Portico, projectFolder, type RequestOptions } from "../support/server.ts";
import { until, verify } from "../support/webhook-receiver.ts";
import { serveWebhooks } from "../support/webhooks.ts";

test("without private addresses, an endpoint must use https and be at a public address", () => {
  const refused = [
    ...["http://example.com/", "https://127.0.0.1/", "https://[::1]/", "https://[::ffff:10.0.0.1]/"],
    ...["https://169.254.169.254/latest", "https://0x7f000001/", "https://2130706433/", "https://10.1/"],
    ...["https://[64:ff9b::7f00:1]/", "https://100.64.0.1/", "https://0.0.0.0/", "ftp://example.com/"],
    ...["https://user:password@example.com/", "https://example.com/#part", "example.com", ""],
  ];
  for (const url of refused) assert.ok(endpointUrlError(url, false), url);
  for (const url of ["https://example.com/hook?a=b", "https://93.184.216.34/"])
    assert.equal(endpointUrlError(url, false), undefined, url);
});

onEachDatabase("webhook endpoints", (database) => {
  const { server, receiver, endpointAt, deliveriesOf } = serveWebhooks(database, {
    env: { PORTICO_WEBHOOK_SCHEDULE: "0" },
  });
  const post = (path: string, body: unknown = {}, options: RequestOptions = {}) =>
    server.request(`/v1/webhook-endpoints${path && `/${path}`}`, { method: "POST", body, ...options });

  test("what is wrong with an endpoint is refused", async () => {
    const valid = { url: receiver.url, eventTypes: ["post.*"] };
    const refused: [changes: object, field: string, issue: string][] = [
      [{ url: "nowhere" }, "url", "format"],
      [{ url: `https://example.com/${"x".repeat(2_100)}` }, "url", "max"],
      [{ eventTypes: [] }, "eventTypes", "min"],
      [{ eventTypes: ["post.read"] }, "eventTypes", "choice"],
      [{ eventTypes: ["mail.created"] }, "eventTypes", "choice"],
      [{ secret: "whsec_c2VjcmV0" }, "secret", "unknown"],
      [{ principal: { kind: "user" } }, "principal", "unknown"],
      [{ disabledReason: "gone" }, "disabledReason", "read_only"],
    ];
    for (const [changes, field, issue] of refused) {
      const { status, body, text } = await post("", { ...valid, ...changes });
      assert.equal(status, 422, text);
      assert.deepEqual(body.error.details, [{ field, issue }], text);
    }
    const scopes = ["posts:read", "webhooks:read"];
    const { key } = await server.command("key", "create", "--name", "Reader", "--scopes", scopes.join());
    assert.equal((await post("", valid, { key })).status, 403);
    assert.equal((await server.request("/v1/webhook-endpoints", { key })).status, 200);
  });

  test("during a rotation both secrets sign", async () => {
    const { id, secret } = await endpointAt("/rotation");
    const rotated = await server.create(`/v1/webhook-endpoints/${id}/rotations`, { overlapSeconds: 3600 });
    assert.notEqual(rotated.secret, secret);
    await server.create("/posts", { title: "Signed twice" });
    const [both] = await receiver.waitFor("/rotation");
    for (const each of [secret, rotated.secret]) verify(each, both!);
    const last = await server.create(`/v1/webhook-endpoints/${id}/rotations`, { overlapSeconds: 0 });
    await server.create("/posts", { title: "Signed once" });
    const [, one] = await receiver.waitFor("/rotation", 2);
    verify(last.secret, one!);
    for (const each of [secret, rotated.secret]) assert.throws(() => verify(each, one!));
  });

  test("a test is sent whatever the types of the endpoint, and answered with its delivery", async () => {
    const { id, secret } = await endpointAt("/test", ["comment.created"]);
    const { status, body } = await post(`${id}/tests`);
    assert.deepEqual(
      [status, body.status, body.eventType, body.lastStatus],
      [201, "succeeded", "webhook.test", 204],
    );
    const [received] = receiver.at("/test");
    verify(secret, received!);
    assert.deepEqual(received!.body.data, { endpointId: id });
    assert.equal(received!.body.id, body.eventId);
    await server.request(`/v1/webhook-endpoints/${id}`, { method: "PATCH", body: { status: "disabled" } });
    assert.equal((await post(`${id}/tests`)).status, 409);
    assert.equal((await server.request(`/v1/webhook-endpoints/${id}`)).body.disabledReason, "manual");
    assert.equal((await post("webhook_endpoint_01k00000000000000000000000/tests")).status, 404);
    assert.equal((await post(`${id}/tests?x=1`)).status, 422);
  });

  test("a replay delivers the events of a time again, with their ids", async () => {
    const from = new Date().toISOString();
    const first = await server.create("/posts", { title: "First" });
    const second = await server.create("/posts", { title: "Second" });
    await server.request(`/posts/${first.id}`, { method: "DELETE" });
    const { id } = await endpointAt("/replay");
    const replayed = await post(`${id}/replays`, { from, eventTypes: ["post.created"] });
    assert.deepEqual([replayed.status, replayed.body], [202, { count: 2 }]);
    const received = await receiver.waitFor("/replay", 2);
    assert.deepEqual(new Set(received.map(({ body }) => body.data.id)), new Set([first.id, second.id]));
    assert.deepEqual((await post(`${id}/replays`, { from })).body, { count: 3 });
    const all = await receiver.waitFor("/replay", 5);
    const idOf = (title: string) =>
      all.filter(({ body }) => body.data.title === title && body.type === "post.created");
    assert.equal(new Set(idOf("Second").map(({ body }) => body.id)).size, 1);
    assert.deepEqual((await post(`${id}/replays`, { from: "2020-01-01", to: "2021-01-01" })).body, {
      count: 0,
    });
    const wrong = [{}, { from: "soon" }, { from: 5 }, { from, to: "2020-01-01" }, { from, x: 1 }, [], "x"];
    for (const body of [...wrong, { from, eventTypes: ["x.y"] }, { from, eventTypes: "post.*" }])
      assert.ok([400, 422].includes((await post(`${id}/replays`, body)).status), JSON.stringify(body));
  });

  test("replays add nothing to an endpoint with 20,000 pending deliveries", async () => {
    const from = new Date().toISOString();
    const { id } = await endpointAt("/many");
    await server.create("/posts", { title: "Old" });
    await receiver.waitFor("/many");
    const [delivery] = await deliveriesOf(id);
    const { databaseUrl } = server.workspace;
    const add = (count: number, first: number) => addPending(databaseUrl, delivery.id, count, first);
    await add(19_999, 1);
    assert.deepEqual((await post(`${id}/replays`, { from })).body, { count: 1 });
    await add(1, 20_000);
    const refused = await post(`${id}/replays`, { from });
    assert.equal(refused.status, 409);
    assert.match(JSON.stringify(refused.body), /20000 pending deliveries/);
    await writeDirectly(databaseUrl, `delete from webhook_deliveries where endpoint_id = '${id}'`);
  });

  test("an endpoint that is enabled again while its pending deliveries are failed gets the next events", async () => {
    const { id } = await endpointAt("/resumed");
    await server.create("/posts", { title: "Before" });
    await receiver.waitFor("/resumed");
    const [delivery] = await until(deliveriesOf, id, ([one]) => one.status === "succeeded");
    const { databaseUrl } = server.workspace;
    await addPending(databaseUrl, delivery.id, 30_000, 1);
    const setStatus = async (status: string): Promise<void> => {
      const change = { method: "PATCH", body: { status } };
      assert.equal((await server.request(`/v1/webhook-endpoints/${id}`, change)).status, 200);
    };
    await setStatus("disabled");
    const failed = `select count(*) from webhook_deliveries where endpoint_id = '${id}' and status = 'failed'`;
    while ((await countDirectly(databaseUrl, failed)) === 0) await sleep(5);
    await setStatus("enabled");
    for (let n = 0; n < 20; n += 1) await server.create("/posts", { title: `Again ${n}` });
    await receiver.waitFor("/resumed", 21);
    await writeDirectly(databaseUrl, `delete from webhook_deliveries where endpoint_id = '${id}'`);
  });

  test("commands create, list and test endpoints", async () => {
    const words = ["--url", `${receiver.url}/command`, "--event-types", "post.created"];
    const created = await server.command("webhook", "create", ...words);
    assert.match(created.secret, /^whsec_/);
    const { delivery } = await server.command("webhook", "test", created.id);
    assert.equal(delivery.status, "succeeded");
    const { webhooks } = await server.command("webhook", "list");
    assert.equal(webhooks[0].id, created.id);
    const made = await server.create("/posts", { title: "By command" });
    const [, received] = await receiver.waitFor("/command", 2);
    assert.equal(received!.body.data.id, made.id);
  });

  test("the example receiver accepts what is signed, once, and nothing else", async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/`;
    const { id, secret } = await server.create("/v1/webhook-endpoints", {
      url,
      eventTypes: ["comment.created"],
    });
    const file = join(projectFolder, "examples/webhook-receiver/receiver.ts");
    const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) };
    const child = spawn(process.execPath, [file], { env, stdio: ["ignore", "pipe", "inherit"] });
    try {
      await once(child.stdout, "data");
      const printed = once(child.stdout, "data");
      const { body } = await post(`${id}/tests`);
      assert.deepEqual([body.status, body.lastStatus], ["succeeded", 204]);
      assert.match(String(await printed), /^webhook\.test/);
      const forged = {
        method: "POST",
        body: "{}",
        headers: { "webhook-id": "x", "webhook-timestamp": "1", "webhook-signature": "v1,x" },
      };
      assert.equal((await fetch(url, forged)).status, 401);
    } finally {
      child.kill();
      await once(child, "close");
    }
  });

  test("a deleted endpoint gets nothing more, and its deliveries stay", async () => {
    const { id } = await endpointAt("/deleted");
    await server.create("/posts", { title: "Before" });
    await receiver.waitFor("/deleted");
    await server.request(`/v1/webhook-endpoints/${id}`, { method: "DELETE" });
    await endpointAt("/after");
    await server.create("/posts", { title: "After" });
    await receiver.waitFor("/after");
    assert.equal(receiver.at("/deleted").length, 1);
    const { body } = await server.request(`/v1/webhook-deliveries?endpointId=${id}`);
    assert.equal(body.data.length, 1);
    const retry = await server.request(`/v1/webhook-deliveries/${body.data[0].id}/retries`, {
      method: "POST",
      body: {},
    });
    assert.equal(retry.status, 409);
  });

  test("nothing is added for an endpoint whose deletion has ended its queue", async () => {
    const from = new Date().toISOString();
    const { id } = await endpointAt("/ended");
    await writeDirectly(server.workspace.databaseUrl, `delete from webhook_queues where id = '${id}'`);
    await endpointAt("/other");
    await server.create("/posts", { title: "Too late" });
    await receiver.waitFor("/other");
    assert.deepEqual(await deliveriesOf(id), []);
    for (const path of ["tests", "replays"])
      assert.equal((await post(`${id}/${path}`, { from })).status, 409);
    assert.equal((await server.request(`/v1/webhook-endpoints/${id}`, { method: "DELETE" })).status, 204);
  });

  test("GraphQL manages endpoints too, and a server without private addresses connects to none", async () => {
    const { id } = await endpointAt("/graphql");
    const query = "query($id: ID!) { webhookEndpoint(id: $id) { url eventTypes status } }";
    const { body } = await server.request("/graphql", { body: { query, variables: { id } } });
    const shown = { url: `${receiver.url}/graphql`, eventTypes: ["post.*"], status: "enabled" };
    assert.deepEqual(body.data.webhookEndpoint, shown);
    await server.portico.stop();
    const env = { PORTICO_WEBHOOK_SCHEDULE: "0", PORTICO_WEBHOOK_PRIVATE: "false" };
    server.portico = await Portico.start(server.workspace, { env, key: server.portico.key });
    await server.create("/posts", { title: "Refused" });
    const read = async () => (await server.request(`/v1/webhook-deliveries?endpointId=${id}`)).body.data;
    const [failed] = await until(read, undefined, ([one]) => one?.status === "failed");
    assert.match(failed.lastError, /not allowed|not a public address/);
    assert.equal(receiver.at("/graphql").length, 0);
    const refused = await post("", { url: receiver.url, eventTypes: ["*"] });
    assert.equal(refused.status, 422);
  });
});

/** Adds pending deliveries that are like one, with other ids. */
function addPending(databaseUrl: string, likeId: string, count: number, first: number): Promise<void> {
  const columns = `tenant_no, endpoint_id, event_id, event_type, event_transaction, event_sequence, row_key, payload,
    attempts, created_at, updated_at`;
  return writeDirectly(
    databaseUrl,
    `insert into webhook_deliveries (id, status, ${columns}) with recursive n(n) as
      (select ${first} union all select n + 1 from n where n < ${first + count - 1})
      select d.id || n.n, 'pending', ${columns} from webhook_deliveries as d cross join n where d.id = '${likeId}'`,
  );
}

// The delivery of events to webhook endpoints, over HTTP.

import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { openReader } from "../support/database-reader.ts";
import { onEachDatabase } from "../support/server.ts";
import { until, verify } from "../support/webhook-receiver.ts";
import { serveWebhooks } from "../support/webhooks.ts";

onEachDatabase("the delivery of events", (database) => {
  const { server, receiver, endpointAt, endpoint, deliveriesOf } = serveWebhooks(database, {
    env: { PORTICO_WEBHOOK_SCHEDULE: "0,0,1" },
  });
  const createPost = (title = "Hello") => server.create("/posts", { title });

  test("an event is sent as Standard Webhooks defines it, with the row as the API shows it", async () => {
    const { id: endpointId, secret } = await endpointAt("/standard", ["post.created"]);
    const post = await createPost();
    const [received] = await receiver.waitFor("/standard");
    verify(secret!, received!);
    const { id, ...body } = received!.body;
    assert.match(id, /^event_/);
    assert.equal(received!.headers["webhook-id"], id);
    assert.deepEqual(body, { type: "post.created", timestamp: post.createdAt, data: post });
    const [delivery] = await until(deliveriesOf, endpointId, ([one]) => one?.status === "succeeded");
    const { id: _id, durationMs, createdAt, updatedAt, ...rest } = delivery;
    assert.ok(durationMs >= 0 && createdAt <= updatedAt);
    assert.deepEqual(rest, {
      ...{ endpointId, eventId: id, eventType: "post.created", status: "succeeded", attempts: 1 },
      ...{ nextAttemptAt: null, lastStatus: 204, lastError: null },
    });
  });

  test("an endpoint gets the types that it selects, and only events after its creation", async () => {
    const earlier = await createPost("Earlier");
    await endpointAt("/selected", ["post.updated", "post.deleted"]);
    const post = await createPost();
    await server.request(`/posts/${post.id}`, { method: "PATCH", body: { title: "Changed" } });
    await server.request(`/posts/${earlier.id}`, { method: "DELETE" });
    await server.request(`/posts/${post.id}`, { method: "DELETE" });
    const received = await receiver.waitFor("/selected", 3);
    assert.deepEqual(
      received.map(({ body }) => [body.type, body.data.id]).sort(),
      [
        ["post.updated", post.id],
        ["post.deleted", earlier.id],
        ["post.deleted", post.id],
      ].sort(),
    );
  });

  test("a failed attempt is repeated with the same id; later events of the row wait for it", async () => {
    const { id: endpointId, secret } = await endpointAt("/retried");
    let failures = 2;
    receiver.respond = (response, { path }) =>
      void response.writeHead(path === "/retried" && failures-- > 0 ? 500 : 200).end("answer");
    const post = await createPost();
    await server.request(`/posts/${post.id}`, { method: "PATCH", body: { title: "Second" } });
    const received = await receiver.waitFor("/retried", 4);
    for (const each of received) verify(secret, each);
    assert.deepEqual(
      received.map(({ body }) => body.type),
      ["post.created", "post.created", "post.created", "post.updated"],
    );
    assert.equal(new Set(received.slice(0, 3).map(({ body }) => body.id)).size, 1);
    const deliveries = await until(deliveriesOf, endpointId, (all) =>
      all.every(({ status }: { status: string }) => status === "succeeded"),
    );
    const first = deliveries.find(({ attempts }: { attempts: number }) => attempts === 3);
    const { body } = await server.request(`/v1/webhook-deliveries/${first.id}/attempts`);
    assert.deepEqual(
      body.data.map(({ number, status, error, response }: Record<string, unknown>) => [
        number,
        status,
        error,
        response,
      ]),
      [
        [1, 500, "The response has the status 500.", "answer"],
        [2, 500, "The response has the status 500.", "answer"],
        [3, 200, null, "answer"],
      ],
    );
  });

  test("after the last attempt a delivery has failed, and can be retried", async () => {
    const { id: endpointId } = await endpointAt("/failed");
    let status = 302;
    receiver.respond = (response) =>
      void response.writeHead(status, { location: `${receiver.url}/other` }).end();
    const post = await createPost();
    const [failed] = await until(deliveriesOf, endpointId, ([one]) => one?.status === "failed");
    assert.deepEqual([failed.attempts, failed.lastStatus, failed.nextAttemptAt], [3, 302, null]);
    assert.equal(receiver.at("/other").length, 0);
    status = 200;
    const retried = await server.create(`/v1/webhook-deliveries/${failed.id}/retries`, {});
    assert.equal(retried.status, "pending");
    const [succeeded] = await until(deliveriesOf, endpointId, ([one]) => one.status === "succeeded");
    assert.equal(succeeded.attempts, 4);
    assert.equal(receiver.at("/failed").at(-1)!.body.data.id, post.id);
    const again = await server.request(`/v1/webhook-deliveries/${failed.id}/retries`, {
      method: "POST",
      body: {},
    });
    assert.equal(again.status, 201, "a delivery that has succeeded can be sent again");
  });

  test("an endpoint that answers 410 is disabled", async () => {
    const { id } = await endpointAt("/gone");
    receiver.respond = (response) => void response.writeHead(410).end();
    await createPost();
    const disabled = await until(endpoint, id, ({ status }) => status === "disabled");
    assert.equal(disabled.disabledReason, "gone");
    receiver.respond = (response) => void response.writeHead(200).end();
    const missed = await createPost("Missed");
    const enabled = await server.request(`/v1/webhook-endpoints/${id}`, {
      method: "PATCH",
      body: { status: "enabled" },
    });
    assert.deepEqual([enabled.body.status, enabled.body.disabledReason], ["enabled", null]);
    const seen = await createPost("Seen");
    await receiver.waitFor("/gone", 2);
    assert.ok(receiver.at("/gone").every(({ body }) => body.data.id !== missed.id));
    assert.equal(receiver.at("/gone").at(-1)!.body.data.id, seen.id);
  });

  test("five days of nothing but failures disable an endpoint", async () => {
    const { id } = await endpointAt("/failing");
    receiver.respond = (response, { path }) => void response.writeHead(path === "/failing" ? 500 : 204).end();
    const failedOnce = async (count: number) =>
      until(
        deliveriesOf,
        id,
        (all) => all.filter((each: { status: string }) => each.status === "failed").length >= count,
      );
    await createPost();
    await failedOnce(1);
    assert.equal((await endpoint(id)).status, "enabled");
    const longAgo = new Date(Date.now() - 5 * 86_400_000).toISOString();
    const reader = openReader(server.workspace.databaseUrl);
    await reader.write(`update webhook_queues set failing_since = '${longAgo}' where id = '${id}'`);
    await reader.close();
    await createPost();
    const disabled = await until(endpoint, id, ({ status }) => status === "disabled");
    assert.equal(disabled.disabledReason, "failing");
    await failedOnce(2);
    // Enabled again, it has five days again.
    const enabled = { method: "PATCH", body: { status: "enabled" } };
    assert.equal((await server.request(`/v1/webhook-endpoints/${id}`, enabled)).body.status, "enabled");
    await createPost();
    await failedOnce(3);
    assert.equal((await endpoint(id)).status, "enabled");
  });

  test("Retry-After postpones the next attempt", async () => {
    const { id } = await endpointAt("/later");
    receiver.respond = (response) => void response.writeHead(503, { "retry-after": "3600" }).end();
    await createPost();
    const [waiting] = await until(deliveriesOf, id, ([one]) => one?.attempts === 1);
    const waitMs = Date.parse(waiting.nextAttemptAt) - Date.parse(waiting.updatedAt);
    assert.ok(waitMs > 3_500_000 && waitMs < 3_700_000, String(waitMs));
    await server.request(`/v1/webhook-endpoints/${id}`, { method: "PATCH", body: { status: "disabled" } });
    const [abandoned] = await until(deliveriesOf, id, ([one]) => one.status === "failed");
    assert.equal(abandoned.lastError, "The endpoint was disabled.");
  });

  test("of a long response only the beginning is kept", async () => {
    const { id } = await endpointAt("/long");
    receiver.respond = (response) => void response.writeHead(200).end("x".repeat(5_000_000));
    await createPost();
    const [delivery] = await until(deliveriesOf, id, ([one]) => one?.status === "succeeded");
    const { body } = await server.request(`/v1/webhook-deliveries/${delivery.id}/attempts`);
    assert.equal(body.data[0].response, "x".repeat(1024));
  });

  test("an endpoint that never answers, and one that breaks connections, delay no other", async () => {
    const held: ServerResponse[] = [];
    receiver.respond = (response, { path }) => {
      if (path === "/hanging") held.push(response);
      else if (path === "/resetting") response.req.socket.destroy();
      else response.writeHead(200).end();
    };
    await endpointAt("/hanging");
    const { id } = await endpointAt("/resetting");
    await endpointAt("/sound");
    for (let n = 0; n < 40; n += 1) await createPost(`Post ${n}`);
    await receiver.waitFor("/sound", 40);
    const [failing] = await until(deliveriesOf, id, ([one]) => one?.attempts > 0);
    assert.match(failing.lastError, /socket hang up|ECONNRESET/);
    receiver.respond = (response) => void response.writeHead(200).end();
    for (const response of held) response.writeHead(200).end();
  });
});

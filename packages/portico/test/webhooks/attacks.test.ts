// What an endpoint must not get: rows that a policy or a role hides from its principal, also after these have changed.

import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { users } from "../../src/auth/users/resource.ts";
import { app } from "../../src/declare/app.ts";
import { belongsTo, text } from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import { makeKey } from "../support/keys.ts";
import { onEachDatabase, Portico, type RequestOptions } from "../support/server.ts";
import { until } from "../support/webhook-receiver.ts";
import { serveWebhooks } from "../support/webhooks.ts";

/** What the policies below read: whether only owners see boards, and for whom one throws. */
let isStrict = false;
let brokenFor: string | undefined;

const boards = resource("board", {
  fields: {
    name: text({ max: 50 }),
    code: text({ internal: true, optional: true }),
    owner: belongsTo(() => users, { default: "caller" }),
  },
  policy: ({ caller }) => (caller.role === "owner" && !isStrict) || { ownerId: caller.userId },
  hooks: { before: { create: () => ({ code: "internal" }) } },
});
const cards = resource("card", { parent: boards, fields: { title: text({ max: 50 }) } });
const notes = resource("note", {
  fields: { text: text({ max: 1_000_000 }) },
  policy: {
    read({ caller }) {
      if (caller.userId !== null && caller.userId === brokenFor) throw new Error("broken");
      return true;
    },
  },
});
const traces = resource("trace", { exposed: false, fields: { note: text({ max: 50 }) } });
const scopes = ["boards", "cards", "notes", "webhooks"].flatMap((each) => [
  `${each}:read`,
  each === "webhooks" ? `${each}:manage` : `${each}:write`,
]);
const declared = app({
  name: "Attacks",
  resources: [boards, cards, notes, traces],
  roles: { owner: "*", member: scopes, guest: ["notes:read", "webhooks:read", "webhooks:manage"] },
});

const notVisible = "The endpoint may no longer see the row of this event.";

onEachDatabase("what a webhook endpoint must not get", (database) => {
  const { server, receiver, endpointAt, deliveriesOf } = serveWebhooks(database, {
    app: declared,
    env: { PORTICO_WEBHOOK_SCHEDULE: "0,1,1,1,1,1,1,1" },
  });
  const person = async (name: string, role = "member") => {
    const { id } = await server.create("/users", { name, email: `${name}@example.com`, role });
    const { key } = await makeKey(server, { scopes: ["*"], ownerId: id });
    return { id, key };
  };
  const board = (name: string, options: RequestOptions = {}): Promise<{ id: string }> =>
    server.create("/boards", { name }, options);
  const change = async (path: string, body: object, options: RequestOptions = {}): Promise<void> => {
    const { status, text } = await server.request(path, { method: "PATCH", body, ...options });
    assert.equal(status, 200, text);
  };
  const namesAt = (path: string): string[] =>
    receiver
      .at(path)
      .map(({ body }) => `${body.type} ${body.data.name ?? body.data.title ?? body.data.text}`);
  /** Waits until a delivery of a type has ended, and returns why it failed. */
  const failureOf = async (endpointId: string, eventType: string): Promise<string> => {
    const isEnded = (each: { eventType: string; status: string }) =>
      each.eventType === eventType && each.status !== "pending";
    const all = await until(deliveriesOf, endpointId, (each) => each.some(isEnded));
    return all.find(isEnded).lastError;
  };
  const refuse = (path: string): void => {
    receiver.respond = (response, received) =>
      void response.writeHead(received.path === path ? 500 : 204).end();
  };

  test("rows that a policy hides, and fields and resources that are not served", async () => {
    const [ann, bob] = [await person("ann"), await person("bob")];
    const from = new Date(Date.now() - 1000).toISOString();
    const { id } = await endpointAt("/ann", ["board.*", "card.*"], { key: ann.key });
    const theirs = await board("Theirs", { key: bob.key });
    await server.create(`/boards/${theirs.id}/cards`, { title: "Theirs" }, { key: bob.key });
    await change(`/boards/${theirs.id}`, { name: "Still theirs" }, { key: bob.key });
    await server.request(`/boards/${theirs.id}`, { method: "DELETE", key: bob.key });
    const own = await board("Own", { key: ann.key });
    await server.create(`/boards/${own.id}/cards`, { title: "Own" }, { key: ann.key });
    await receiver.waitFor("/ann", 2);
    await change(`/boards/${own.id}`, { ownerId: bob.id });
    await board("Last", { key: ann.key });
    const seen = ["board.created Last", "board.created Own", "card.created Own"];
    await receiver.waitFor("/ann", 3);
    assert.deepEqual(namesAt("/ann").sort(), seen);
    const all = await until(deliveriesOf, id, (each) =>
      each.every(({ status }: { status: string }) => status === "succeeded"),
    );
    assert.equal(all.length, 3);
    // The card is hidden with its board by now.
    const replay = { body: { from }, key: ann.key };
    const replayed = await server.request(`/v1/webhook-endpoints/${id}/replays`, replay);
    assert.deepEqual(replayed.body, { count: 2 });
    await receiver.waitFor("/ann", 5);
    const sent = receiver.at("/ann").map((each) => each.text);
    assert.ok(sent.every((each) => !/internal|code|Theirs|Still/.test(each)));
    const hidden = await server.request("/v1/webhook-endpoints", {
      body: { url: receiver.url, eventTypes: ["trace.created"] },
    });
    assert.equal(hidden.status, 422);
  });

  test("a row that is hidden while its delivery waits", async () => {
    const [cem, dee] = [await person("cem"), await person("dee")];
    refuse("/moved");
    const { id } = await endpointAt("/moved", ["card.*"], { key: cem.key });
    const own = await board("Own", { key: cem.key });
    await server.create(`/boards/${own.id}/cards`, { title: "Moved" }, { key: cem.key });
    await receiver.waitFor("/moved");
    await change(`/boards/${own.id}`, { ownerId: dee.id });
    assert.equal(await failureOf(id, "card.created"), notVisible);
  });

  test("rows that its owner sees no more after a demotion", async () => {
    const [eva, fay] = [await person("eva", "owner"), await person("fay")];
    refuse("/demoted");
    const { id } = await endpointAt("/demoted", ["board.*", "card.*"], { key: eva.key });
    await board("Before", { key: fay.key });
    await receiver.waitFor("/demoted");
    await change(`/users/${eva.id}`, { role: "member" });
    assert.equal(await failureOf(id, "board.created"), notVisible);
    receiver.respond = (response) => void response.writeHead(204).end();
    await board("After", { key: fay.key });
    await board("Own", { key: eva.key });
    await until(
      async () => namesAt("/demoted"),
      undefined,
      (all) => all.includes("board.created Own"),
    );
    assert.ok(!namesAt("/demoted").includes("board.created After"));
    // A role without the scope of the resource.
    await change(`/users/${eva.id}`, { role: "guest" });
    await board("Of a guest", { key: fay.key });
    await change(`/users/${eva.id}`, { role: "member" });
    await board("Own again", { key: eva.key });
    await until(
      async () => namesAt("/demoted"),
      undefined,
      (all) => all.includes("board.created Own again"),
    );
    assert.ok(!namesAt("/demoted").includes("board.created Of a guest"));
  });

  test("pending deliveries, for who changes its URL", async () => {
    const [gil, hal] = [await person("gil"), await person("hal")];
    for (const method of ["PATCH", "PUT"]) {
      const [first, second] = [`/first-${method}`, `/second-${method}`];
      refuse(first);
      const { id } = await endpointAt(first, ["board.*"]);
      await board("Of Gil", { key: gil.key });
      await receiver.waitFor(first);
      const body = { url: receiver.url + second, eventTypes: ["board.*"] };
      const taken = await server.request(`/v1/webhook-endpoints/${id}`, { method, body, key: hal.key });
      assert.equal(taken.status, 200, taken.text);
      assert.equal(await failureOf(id, "board.created"), notVisible);
      await board("Of Hal", { key: hal.key });
      await receiver.waitFor(second);
      assert.deepEqual(namesAt(second), ["board.created Of Hal"]);
    }
  });

  test("anything, once its owner is deactivated", async () => {
    const ida = await person("ida");
    const { id } = await endpointAt("/deactivated", ["*"], { key: ida.key });
    await change(`/users/${ida.id}`, { active: false });
    const endpoint = async () => (await server.request(`/v1/webhook-endpoints/${id}`)).body;
    await server.create("/notes", { text: "Missed" });
    await until(endpoint, undefined, ({ disabledReason }) => disabledReason === "credential_revoked");
    assert.deepEqual(namesAt("/deactivated"), []);
  });

  test("rows of a policy that throws; others are delivered, and those once it does not", async () => {
    const lea = await person("lea", "owner");
    const { id } = await endpointAt("/broken", ["note.*", "board.*"], { key: lea.key });
    brokenFor = lea.id;
    try {
      await Promise.all([server.create("/notes", { text: "Late" }), board("Sound")]);
      await receiver.waitFor("/broken");
      assert.deepEqual(namesAt("/broken"), ["board.created Sound"]);
    } finally {
      brokenFor = undefined;
    }
    await receiver.waitFor("/broken", 2);
    assert.deepEqual(namesAt("/broken"), ["board.created Sound", "note.created Late"]);
    await server.request(`/v1/webhook-endpoints/${id}`, { method: "DELETE" });
  });

  test("more memory than its share, by rows of a megabyte that wait for an answer", async () => {
    const held: ServerResponse[] = [];
    receiver.respond = (response) => void held.push(response);
    const count = 24;
    await endpointAt("/large", ["note.*"]);
    const note = { text: "x".repeat(900_000) };
    for (let n = 0; n < count; n += 1) await server.create("/notes", note);
    await receiver.waitFor("/large", 19);
    await server.create("/notes", { text: "small" });
    // Looks for new deliveries follow each other within a quarter of a second.
    await receiver.waitUntil(() => receiver.at("/large").length > 19, 600).catch(() => {});
    assert.equal(receiver.at("/large").length, 19, "16 MiB");
    receiver.respond = (response) => void response.writeHead(204).end();
    for (const response of held) response.writeHead(204).end();
    await receiver.waitFor("/large", count + 1);
  });

  test("rows that a changed declaration hides", async () => {
    const jan = await person("jan");
    refuse("/strict");
    const { id } = await endpointAt("/strict", ["board.*"]);
    await board("Before", { key: jan.key });
    await receiver.waitFor("/strict");
    await server.portico.stop();
    isStrict = true;
    const { workspace, portico } = server;
    const env = { PORTICO_WEBHOOK_SCHEDULE: "0,1,1,1,1,1,1,1" };
    server.portico = await Portico.startApp(workspace, declared, { env, key: portico.key });
    try {
      assert.equal(await failureOf(id, "board.created"), notVisible);
      await board("After", { key: jan.key });
      receiver.respond = (response) => void response.writeHead(204).end();
      await board("Own");
      await until(
        async () => namesAt("/strict"),
        undefined,
        (all) => all.includes("board.created Own"),
      );
      assert.ok(!namesAt("/strict").includes("board.created After"));
    } finally {
      isStrict = false;
    }
  });
});

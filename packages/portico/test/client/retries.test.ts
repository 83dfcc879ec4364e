// What the client repeats, how long it waits, and how it renews credentials.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createClient, type PorticoError } from "portico/client";
import type service from "../../../../portico.config.ts";
import { makeWorkspace, Portico } from "../support/server.ts";

let server: Portico;
before(async () => {
  server = await Portico.start(await makeWorkspace("sqlite"));
});
after(async () => {
  await server.stop();
  await server.workspace.remove();
});

type Fetch = typeof fetch;

/** A fetch whose first responses are lost after the server has sent them. */
function losing(count: number, sent: Request[]): Fetch {
  return async (input, init) => {
    sent.push(new Request(input, init));
    const response = await fetch(input, init);
    if (sent.length > count) return response;
    await response.arrayBuffer();
    throw new TypeError("fetch failed");
  };
}

test("a write whose response is lost takes effect once", async () => {
  const sent: Request[] = [];
  const client = createClient<typeof service>({
    baseUrl: server.url,
    credential: server.key,
    fetch: losing(2, sent),
  });
  const project = await client.projects.create({ name: "Once" });
  const keys = new Set(sent.map(({ headers }) => headers.get("idempotency-key")));
  assert.deepEqual([sent.length, keys.size], [3, 1]);
  const { data } = await client.projects.list({ q: "Once" });
  assert.deepEqual(data, [project]);

  const deleted: Request[] = [];
  const other = createClient<typeof service>({
    baseUrl: server.url,
    credential: server.key,
    fetch: losing(1, deleted),
  });
  await other.projects.delete(project.id);
  assert.equal(deleted.length, 2);
  await assert.rejects(client.projects.delete(project.id), { code: "not_found" });
});

test("what may not be repeated is sent once", async () => {
  for (const call of [
    (client: ReturnType<typeof clientWith>) => client.projects.import([{ name: "Lost" }]),
    (client: ReturnType<typeof clientWith>) =>
      client.projects.create({ name: "x" }, { idempotencyKey: false }),
    (client: ReturnType<typeof clientWith>) => client.projects.list({}, { maxRetries: 0 }),
  ]) {
    const sent: Request[] = [];
    await assert.rejects(call(clientWith(losing(9, sent))), { code: "network_error", status: 0 });
    assert.equal(sent.length, 1);
  }
  const refused: Request[] = [];
  const counting: Fetch = (input, init) => losing(0, refused)(input, init);
  await assert.rejects(clientWith(counting).projects.create({ name: "" }), { code: "validation_error" });
  assert.equal(refused.length, 1);
});

function clientWith(send: Fetch) {
  return createClient<typeof service>({ baseUrl: server.url, credential: server.key, fetch: send });
}

test("it waits as long as Retry-After asks for, a minute at most", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const answers = (status: number, retryAfter: string): Response =>
    Response.json(
      { error: { code: "rate_limited", message: "Wait.", details: [] } },
      { status, headers: { "retry-after": retryAfter } },
    );
  const pending = [
    answers(429, "7"),
    answers(503, new Date(Date.now() + 3_000).toUTCString()),
    Response.json({ kind: "key" }),
  ];
  let attempts = 0;
  const me = clientWith(async () => pending[attempts++]!).me();
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  };
  await settle();
  context.mock.timers.tick(6_999);
  await settle();
  assert.equal(attempts, 1);
  context.mock.timers.tick(251);
  await settle();
  assert.equal(attempts, 2);
  context.mock.timers.tick(4_000);
  assert.deepEqual(await me, { kind: "key" });

  for (const [value, seconds] of [
    ["61", 61],
    ["99999999999999", 99999999999999],
    ["Infinity", Infinity],
  ] as const)
    await assert.rejects(clientWith(async () => answers(429, value)).me(), (error: PorticoError) => {
      assert.deepEqual([error.code, error.retryAfter], ["rate_limited", seconds]);
      return true;
    });

  for (const value of ["99999999999999", "Infinity", new Date(8e15).toUTCString()]) {
    let subscribed = 0;
    const client = clientWith(async () => {
      subscribed += 1;
      return answers(503, value);
    });
    const { signal, abort } = abortable();
    const next = client.subscribe("project.created", { signal }).next();
    await settle();
    context.mock.timers.tick(3_599_999);
    await settle();
    assert.equal(subscribed, 1, value);
    context.mock.timers.tick(300);
    await settle();
    assert.equal(subscribed, 2, value);
    abort();
    await assert.rejects(next);
  }
});

function abortable(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

test("a Retry-After that says nothing is ignored", async () => {
  for (const value of ["soon", "-", "NaN"]) {
    const busy: Fetch = async () => new Response("", { status: 503, headers: { "retry-after": value } });
    const client = createClient({ baseUrl: server.url, fetch: busy, maxRetries: 0 });
    await assert.rejects(client.me(), { status: 503, retryAfter: undefined });
  }
});

test("a time-out may be longer than a timer can be", async () => {
  for (const timeoutMs of [Infinity, 2 ** 40])
    assert.equal((await clientWith(fetch).me({ timeoutMs })).kind, "key");
});

test("an attempt takes a bounded time, and a signal ends the call", async () => {
  const never: Fetch = (_, init) =>
    new Promise((_resolve, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
  const late = clientWith(never).projects.list({}, { timeoutMs: 1, maxRetries: 1 });
  await assert.rejects(late, { name: "PorticoError", code: "timeout" });
  const controller = new AbortController();
  const call = clientWith(never).projects.list({}, { signal: controller.signal });
  controller.abort(new Error("left the page"));
  await assert.rejects(call, { message: "left the page" });
  const page = createClient({
    baseUrl: server.url,
    fetch: async () => new Response("<html>", { status: 500 }),
  });
  await assert.rejects(page.me(), { status: 500, code: "invalid_response" });
});

test("a refused credential is renewed once, for all requests together", async () => {
  const revoked = await clientWith(fetch).apiKeys.create({ name: "Old", scopes: ["projects:read"] });
  await clientWith(fetch).apiKeys.delete(revoked.id);
  const calls: (string | undefined)[] = [];
  const client = createClient<typeof service>({
    baseUrl: server.url,
    credential: async (refused) => {
      calls.push(refused);
      return refused === undefined ? revoked.key : server.key;
    },
  });
  const answers = await Promise.all(Array.from({ length: 8 }, () => client.projects.list({ limit: 1 })));
  assert.equal(answers.length, 8);
  assert.deepEqual(calls, [undefined, revoked.key]);
  await client.projects.list();
  assert.equal(calls.length, 2);

  const expiring: string[] = [revoked.key];
  const pages = createClient<typeof service>({
    baseUrl: server.url,
    credential: async (refused) => {
      calls.push(refused);
      return server.key;
    },
    // The token expires after the first page.
    fetch: (input, init) => {
      const headers = new Headers(init?.headers);
      if (String(input).includes("cursor=") && expiring.length > 0)
        headers.set("authorization", `Bearer ${expiring.pop()}`);
      return fetch(input, { ...init, headers });
    },
  });
  for (const name of ["One", "Two", "Three"]) await pages.projects.create({ name });
  const names: string[] = [];
  for await (const { name } of pages.projects.all({ sort: "createdAt", limit: 1 })) names.push(name);
  assert.deepEqual(names.slice(-3), ["One", "Two", "Three"]);
  assert.equal(new Set(names).size, names.length);
  assert.deepEqual([calls.length, calls.at(-1)], [4, server.key]);

  const hopeless = createClient<typeof service>({ baseUrl: server.url, credential: () => revoked.key });
  await assert.rejects(hopeless.me(), { status: 401, code: "invalid_credential" });
});

// Quotas over HTTP: requests that count, headers, and refusals.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { expectAnswer, scenarios, serve, type TestServer } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";

const unknownKey = `sk_test_${"-".repeat(43)}`;
const patienceMs = 10_000;

onEachDatabase("quotas", (database) => {
  describe("of keys", () => {
    // A token is refilled in an hour, so none is refilled during a test.
    const server = serve(database, { env: { PORTICO_KEY_QUOTA: "100/360000" } });
    headers(server);
    refusals(server);
    uncounted(server);
  });
  describe("of failed authentication", () =>
    failedAuthentication(serve(database, { env: { PORTICO_FAILED_AUTH_QUOTA: "5/18000" } })));
});

/** Creates a key with its own quota. One request is refilled in an hour. */
async function makeKey(server: TestServer, limit: number, ...more: string[]): Promise<string> {
  const own = ["--rate-limit", String(limit), "--rate-window", String(limit * 3_600)];
  const created = await server.command(
    "key",
    "create",
    "--name",
    "x",
    "--scopes",
    "posts:read",
    ...own,
    ...more,
  );
  return created.key;
}

function headers(server: TestServer): void {
  test("every response to an authenticated caller has the quota, the remaining requests and the reset time", async () => {
    const key = await makeKey(server, 5);
    for (const [left, seconds] of [
      [4, 3_600],
      [3, 7_200],
      [2, 10_800],
    ] as const) {
      const { headers } = await server.request("/posts?limit=1", { key });
      assert.equal(headers.get("ratelimit-policy"), '"default";q=5;w=18000');
      expectNear(headers, left, seconds);
    }
  });

  test("a key without its own quota has the standard one", async () => {
    const created = await server.command("key", "create", "--name", "x", "--scopes", "posts:read");
    const { headers } = await server.request("/posts?limit=1", { key: created.key });
    assert.equal(headers.get("ratelimit-policy"), '"default";q=100;w=360000');
    expectNear(headers, 99, 3_600);
  });

  test("an error response has them too, and counts", async () => {
    const key = await makeKey(server, 9, "--scopes", "posts:read,posts:write");
    const errors: [string, object, number][] = [
      ["/posts/x", {}, 404],
      ["/posts?staus=x", {}, 422],
      ["/users", {}, 403],
      ["/posts", { body: "{" }, 400],
      ["/posts", { body: {} }, 422],
      ["/posts", { body: "x", headers: { "content-type": "text/plain" } }, 415],
      ["/posts", { body: " ".repeat(1_100_000) }, 413],
    ];
    for (const [index, [path, options, status]] of errors.entries()) {
      const answer = await server.request(path, { ...options, key });
      expectAnswer(answer, { status });
      expectNear(answer.headers, 8 - index, 3_600 * (index + 1));
    }
  });

  test("responses without a body have them too", async () => {
    const { id } = await server.create("/posts", { title: "x" });
    const key = await makeKey(server, 5, "--scopes", "posts:read,posts:write");
    const path = `/posts/${id}`;
    const read = await server.request(path, { key });
    const unchanged = { key, headers: { "if-none-match": read.headers.get("etag")! } };
    for (const [options, status, left] of [
      [unchanged, 304, 3],
      [{ key, method: "HEAD" }, 200, 2],
      [{ key, method: "DELETE" }, 204, 1],
    ] as const) {
      const answer = await server.request(path, options);
      assert.equal(answer.status, status);
      expectNear(answer.headers, left, 3_600 * (5 - left));
    }
  });
}

function refusals(server: TestServer): void {
  test("a request beyond the quota is 429 with whole seconds in Retry-After, and has no effect", async () => {
    const key = await makeKey(server, 1, "--scopes", "posts:read,posts:write");
    expectAnswer(await server.request("/posts", { key, body: { title: "first" } }), { status: 201 });
    const refused = await server.request("/posts", { key, body: { title: "one too many" } });
    expectLimited(refused, 3_600);
    expectNear(refused.headers, 0, 3_600);
    const { body } = await server.request("/posts?q=many");
    assert.deepEqual(body.data, []);
  });

  test("of a burst, exactly the remaining requests are allowed", async () => {
    const key = await makeKey(server, 20);
    for (let used = 0; used < 5; used += 1) await server.request("/posts?limit=1", { key });
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => server.request("/posts?limit=1", { key })),
    );
    const allowed = answers.filter(({ status }) => status === 200);
    assert.equal(allowed.length, 15);
    assert.equal(answers.filter(({ status }) => status === 429).length, 85);
    const left = allowed.map(({ headers }) => Number(/r=(\d+)/.exec(headers.get("ratelimit")!)![1]));
    assert.deepEqual(
      left.sort((one, other) => one - other),
      Array.from({ length: 15 }, (_, each) => each),
    );
  });

  test("refused requests do not count, and tokens are refilled on time", async () => {
    const key = await makeKey(server, 2, "--rate-limit", "2", "--rate-window", "2");
    const read = () => server.request("/posts?limit=1", { key });
    const started = performance.now();
    let allowed = 0;
    let refused = 0;
    // Sends requests without a pause until three tokens are refilled.
    while (allowed < 5 && performance.now() - started < patienceMs) {
      const answer = await read();
      if (answer.status === 200) allowed += 1;
      else {
        expectLimited(answer, 1);
        refused += 1;
      }
    }
    assert.equal(allowed, 5);
    assert.ok(refused > 50, `${refused} were refused`);
    assert.ok(performance.now() - started > 2_900, "three tokens take three seconds");
  });

  test("after Retry-After the request is allowed", async () => {
    const key = await makeKey(server, 1, "--rate-limit", "1", "--rate-window", "1");
    const read = () => server.request("/posts?limit=1", { key });
    expectAnswer(await read(), { status: 200 });
    expectLimited(await read(), 1);
    await sleep(1_000);
    expectAnswer(await read(), { status: 200 });
  });

  test("two keys of one owner have separate quotas, whichever header sends them", async () => {
    const [one, other] = [await makeKey(server, 2), await makeKey(server, 2)];
    expectAnswer(await server.request("/posts?limit=1", { key: one }), { status: 200 });
    const byHeader = { key: null, headers: { "x-api-key": one } };
    expectAnswer(await server.request("/v1/posts?limit=1", byHeader), { status: 200 });
    expectLimited(await server.request("/posts?limit=1", { key: one }), 3_600);
    expectLimited(await server.request("/posts?limit=1", byHeader), 3_600);
    expectAnswer(await server.request("/posts?limit=1", { key: other }), { status: 200 });
  });

  test("requests of a publishable key count, and are refused with 403 until the quota is used up", async () => {
    const key = await makeKey(server, 2, "--type", "publishable");
    for (const left of [1, 0]) {
      const answer = await server.request("/posts", { key });
      expectAnswer(answer, { status: 403, code: "insufficient_scope" });
      expectNear(answer.headers, left, 3_600 * (2 - left));
    }
    expectLimited(await server.request("/posts", { key }), 3_600);
  });
}

function uncounted(server: TestServer): void {
  const none = { ratelimit: null, "ratelimit-policy": null };
  scenarios(server, [
    { fact: "the health of the process is not counted", path: "/healthz", status: 200, answerHeaders: none },
    { fact: "the health of the database is not counted", path: "/readyz", status: 200, answerHeaders: none },
    { fact: "a path without a route is not counted", path: "/nowhere", status: 404, answerHeaders: none },
    {
      fact: "a method that the path does not have is not counted",
      path: "/posts",
      method: "PUT",
      status: 405,
      answerHeaders: none,
    },
    {
      fact: "a request without a key is not counted",
      path: "/posts",
      key: null,
      status: 401,
      answerHeaders: none,
    },
    {
      fact: "a key in the query is not counted",
      path: "/posts?api_key=x",
      status: 400,
      answerHeaders: none,
    },
  ]);

  test("health endpoints respond to a key with no quota left", async () => {
    const key = await makeKey(server, 1);
    for (const status of [200, 429])
      expectAnswer(await server.request("/posts?limit=1", { key }), { status });
    for (const path of ["/healthz", "/readyz"])
      expectAnswer(await server.request(path, { key }), { status: 200 });
  });
}

function failedAuthentication(server: TestServer): void {
  const wrong: readonly Record<string, string>[] = [
    { authorization: `Bearer ${unknownKey}` },
    { "x-api-key": unknownKey },
    { authorization: "Bearer x" },
    { authorization: "Basic eDp5" },
    { authorization: `Bearer ${unknownKey.replace("test", "live")}` },
  ];
  const fail = (headers: Record<string, string>) => server.request("/posts", { key: null, headers });

  test("refused credentials count for the address, whatever their form", async () => {
    for (const headers of wrong) expectAnswer(await fail(headers), { status: 401 });
    for (const headers of wrong) {
      const answer = await fail(headers);
      expectLimited(answer, 3_600);
      expectAnswer(answer, { status: 429, message: /from this address/, headers: { ratelimit: null } });
    }
  });

  test("the address is that of the connection, whatever a header says", async () => {
    for (const name of ["x-forwarded-for", "forwarded", "x-real-ip", "cf-connecting-ip", "client-ip"]) {
      const value = name === "forwarded" ? "for=192.0.2.1" : "192.0.2.1";
      expectLimited(await fail({ ...wrong[0]!, [name]: value }), 3_600);
    }
  });

  test("a valid key from that address is accepted", async () => {
    expectAnswer(await server.request("/posts?limit=1"), { status: 200 });
    expectAnswer(
      await server.request("/posts?limit=1", { key: null, headers: { "x-api-key": server.portico.key } }),
      {
        status: 200,
      },
    );
  });

  test("a request without a credential, or with two, gets its own error", async () => {
    expectAnswer(await server.request("/posts", { key: null }), {
      status: 401,
      code: "authentication_required",
    });
    expectAnswer(await server.request("/posts", { headers: { "x-api-key": "x" } }), { status: 400 });
  });

  test("a revoked key counts too", async () => {
    const { key, id } = await server.command("key", "create", "--name", "x", "--scopes", "posts:read");
    expectAnswer(await server.request("/posts", { key }), { status: 200 });
    await server.command("key", "revoke", id);
    expectLimited(await server.request("/posts", { key }), 3_600);
  });
}

/** A second may have passed since the bucket was full. */
function expectNear(headers: Headers, left: number, seconds: number): void {
  const [, r, t] = /^"default";r=(\d+);t=(\d+)$/.exec(headers.get("ratelimit") ?? "") ?? [];
  assert.equal(Number(r), left, `of ${headers.get("ratelimit")}`);
  assert.ok(Number(t) <= seconds && Number(t) > seconds - 60, `${t} is not near ${seconds}`);
}

function expectLimited(answer: Answer, seconds: number): void {
  expectAnswer(answer, {
    status: 429,
    code: "rate_limited",
    details: [],
    headers: { "retry-after": /^[1-9]\d*$/, "www-authenticate": null },
  });
  const retryAfter = Number(answer.headers.get("retry-after"));
  assert.ok(retryAfter <= seconds && retryAfter > seconds - 60, `${retryAfter} is not near ${seconds}`);
}

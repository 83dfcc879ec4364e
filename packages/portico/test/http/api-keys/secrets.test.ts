// The format of keys in each environment, and the response to every invalid key.

import assert from "node:assert/strict";
import { test } from "node:test";
import { TestSocket } from "../../support/graphql/web-socket.ts";
import { inDays, makeKey, opens, setTime } from "../../support/keys.ts";
import { exchange, expectAnswer, parseAnswer, runCommand, scenarios, serve } from "../../support/scenario.ts";
import { type Answer, makeWorkspace, onEachDatabase, Portico } from "../../support/server.ts";

const live = { PORTICO_MODE: "live", PORTICO_SECRET: "a secret of the tests that is long enough" };

onEachDatabase("the secret of an API key", (database) => {
  const server = serve(database);
  const read = (credential: string, header = "authorization") =>
    server.request("/posts?limit=1", {
      key: null,
      headers: { [header]: header === "authorization" ? `Bearer ${credential}` : credential },
    });
  const invalid = { status: 401, code: "invalid_credential" } as const;

  test("keys of a sandbox are sk_test_ or pk_test_ and 43 characters", async () => {
    assert.match((await makeKey(server)).key, /^sk_test_[\w-]{43}$/);
    assert.match((await makeKey(server, { type: "publishable" })).key, /^pk_test_[\w-]{43}$/);
  });

  test("live mode creates and accepts live keys, and an error names the environment of others", async () => {
    const workspace = await makeWorkspace(database);
    const run = (...words: string[]) => runCommand(workspace, words, { env: live });
    await run("migrate");
    const { tenant } = await run("tenant", "create", "--name", "T");
    const words = ["--name", "K", "--scopes", "keys:manage,keys:read,posts:read"];
    const { key } = await run("key", "create", ...words);
    assert.match(key, /^sk_live_[\w-]{43}$/);
    const portico = await Portico.start(workspace, { env: live, key });
    try {
      expectAnswer(await portico.request(`/v1/tenants/${tenant.id}/api-keys`), { status: 200 });
      const body = { name: "P", scopes: [], type: "publishable" };
      const publishable = (await portico.request("/v1/api-keys", { body })).body.key;
      assert.match(publishable, /^pk_live_[\w-]{43}$/);
      for (const wrong of [server.portico.key, `pk_test_${"a".repeat(43)}`])
        expectAnswer(await portico.request("/posts", { key: wrong }), {
          status: 401,
          code: "wrong_environment",
          message: /live API.*sandbox.*sk_live_/,
        });
      for (const wrong of [key, publishable])
        expectAnswer(await read(wrong), { status: 401, code: "wrong_environment", message: /sandbox.*live/ });
    } finally {
      await portico.stop();
      await workspace.remove();
    }
  });

  test("an unknown prefix, a wrong secret, an expired and a revoked key get the same response, byte by byte", async () => {
    const [expired, revoked] = [await makeKey(server), await makeKey(server)];
    await setTime(server.workspace, expired.id, "expires_at", inDays(-1));
    await server.request(`/v1/api-keys/${revoked.id}`, { method: "DELETE" });
    const { key } = await makeKey(server);
    const last = key.endsWith("A") ? "B" : "A";
    const refused = [
      `sk_test_${"-".repeat(43)}`,
      `${key.slice(0, -1)}${last}`,
      `${key.slice(0, 12)}${"A".repeat(39)}`,
      expired.key,
      revoked.key,
      `${expired.key.slice(0, -1)}!`,
      "nonsense",
    ];
    const answers = await Promise.all(refused.flatMap((each) => [read(each), read(each, "x-api-key")]));
    const shown = ({ status, text, headers }: Answer) => {
      const others = [...headers].filter(([name]) => !["date", "x-request-id"].includes(name));
      return JSON.stringify([status, text, others]);
    };
    for (const answer of answers) expectAnswer(answer, invalid);
    assert.equal(new Set(answers.map(shown)).size, 1);
  });

  test("a key with the prefix of another one is refused, and the other one stays valid", async () => {
    const { key } = await makeKey(server);
    for (const length of [12, 20, 50])
      expectAnswer(await read(`${key.slice(0, length)}${"z".repeat(51 - length)}`), invalid);
    assert.equal(await opens(server, key), true);
  });

  test("a publishable key gives no access, whatever its scopes and the protocol", async () => {
    const scopes = ["posts:read", "posts:write", "keys:read", "keys:manage"];
    const { key, id } = await makeKey(server, { type: "publishable", scopes });
    for (const [method, path, body] of [
      ["GET", "/posts"],
      ["GET", "/posts/x"],
      ["POST", "/posts", { title: "x" }],
      ["GET", "/v1/api-keys"],
      ["GET", `/v1/api-keys/${id}`],
      ["DELETE", `/v1/api-keys/${id}`],
      ["POST", `/v1/api-keys/${id}/rotations`],
      ["POST", "/v1/api-keys", { name: "x", scopes: [] }],
      ["DELETE", "/v1/tenants/x/api-keys"],
      ["GET", "/v1/users/x/api-keys"],
    ] as const)
      expectAnswer(await server.request(path, { key, method, body }), {
        status: 403,
        code: "insufficient_scope",
      });
    const { status, body } = await server.request("/graphql", {
      key,
      body: { query: "{ __schema { types { name } } }" },
      headers: { accept: "application/graphql-response+json" },
    });
    assert.equal(status, 403);
    assert.equal(body.errors[0].extensions.code, "insufficient_scope");
    const socket = await TestSocket.open(server.portico);
    socket.send({ type: "connection_init", payload: { authorization: `Bearer ${key}` } });
    assert.equal((await socket.closed()).code, 4403);
  });

  test("oversized headers, and headers with invalid characters, are refused without effect", async () => {
    const { key } = server.portico;
    const { hostname } = new URL(server.url);
    const send = async (...lines: string[]): Promise<Answer> => {
      const head = ["GET /posts HTTP/1.1", `Host: ${hostname}`, "Connection: close", ...lines, "", ""];
      return parseAnswer(await exchange(server.url, Buffer.from(head.join("\r\n"), "latin1")));
    };
    const long = "a".repeat(9_000);
    for (const [lines, statuses] of [
      [[`Authorization: Bearer ${long}`], [401]],
      [[`X-API-Key: ${long}`], [401]],
      [[`Authorization: Bearer ${key}${long}`], [401]],
      [[`Authorization: ${long}`], [401]],
      [
        [`Authorization: Bearer ${long}`, `X-API-Key: ${long}`],
        [400, 431],
      ],
      [[`Authorization: Bearer ${key}\x01`], [400, 401]],
      [[`Authorization: Bearer ${key}\x00`], [400, 401]],
      [[`Authorization: Bearer\t${key}`], [401]],
      [[`Authorization: Bearer ${key}\xa0`], [401]],
      [[`Authorization: Bearer \xa0${key}`], [401]],
      [[`Authorization: Bearer "${key}"`], [401]],
      [[`X-API-Key: ${key}\x7f`], [400, 401]],
      [[`X-API-Key: Bearer ${key}`], [401]],
      [[`X-API-Key: ${key}, ${key}`], [401]],
      [[`X-API-Key: ${key}`, `X-API-Key: ${key}`], [401]],
      [[`Authorization: Bearer ${key}`, `Authorization: Bearer ${key}`], [400]],
      [[`Authorization: Bearer ${key}`, "Authorization:"], [400]],
      [Array.from({ length: 50 }, () => `Authorization: Bearer ${key}`), [400]],
      [[`Authorization: Bearer ${key}`, "X-API-Key:"], [400]],
      [[`Proxy-Authorization: Bearer ${key}`], [401]],
      [[`Cookie: authorization=Bearer ${key}`], [401]],
    ] as const) {
      const answer = await send(...lines);
      assert.ok(
        statuses.some((status) => status === answer.status),
        `${lines[0]!.slice(0, 60)}: ${answer.status}`,
      );
      assert.ok(!answer.text.includes(key));
    }
    assert.equal((await send(`Authorization: Bearer  ${key} `)).status, 200);
    assert.equal((await send(`X-API-Key: ${key}`)).status, 200);
  });

  const key = `sk_test_${"a".repeat(43)}`;
  scenarios(
    server,
    [
      `q=${key}`,
      `q=x${key}`,
      `q=a_${key}`,
      `${key}=1`,
      `title=sk%5Ftest%5F${"a".repeat(43)}`,
      `a%70i_key=1`,
      `%61ccess_token=x`,
      "fields=title&token=x",
      "TOKEN=x",
      "apiToken=x",
      `q=pk_live_${"a".repeat(43)}`,
      `cursor=${key}`,
      `limit=1&sort=%73k_live_${"b".repeat(43)}`,
      "id_token",
      "bearer=x",
      `x=eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.x`,
    ].map((query) => ({
      fact: `the query ${query.slice(0, 40)} is refused with a valid header`,
      path: `/posts?${query}`,
      status: 400,
      code: "credential_in_query" as const,
    })),
  );

  test("a query that only resembles a credential is ordinary text", async () => {
    for (const query of [
      "q=a?token",
      "q=R%26token%3Dx",
      "q=sk_test_",
      "q=task_test_run",
      "q=tokens",
      "limit=1&q=api_key",
    ])
      expectAnswer(await server.request(`/posts?${query}`), { status: 200 });
  });

  test("a key that another process revokes is refused on the next request", async () => {
    const { id, key: secret } = await makeKey(server);
    assert.equal(await opens(server, secret), true);
    await server.command("key", "revoke", id);
    assert.equal(await opens(server, secret), false);
  });

  test("requests that begin after the response to a revocation are refused, even under load", async () => {
    const { id, key: secret } = await makeKey(server);
    let isRevoked = false;
    const use = async (): Promise<void> => {
      for (let count = 0; count < 40; count += 1) {
        const wasRevoked = isRevoked;
        const isOpen = await opens(server, secret);
        assert.ok(!(wasRevoked && isOpen), "a revoked key was let in");
      }
    };
    const revoke = async (): Promise<void> => {
      for (let count = 0; count < 5; count += 1) await server.request("/healthz");
      await server.request(`/v1/api-keys/${id}`, { method: "DELETE" });
      isRevoked = true;
    };
    await Promise.all([...Array.from({ length: 10 }, use), revoke()]);
    assert.equal(await opens(server, secret), false);
  });

  test("many keys created concurrently are valid and distinct", async () => {
    const created = await Promise.all(Array.from({ length: 100 }, () => makeKey(server)));
    assert.equal(new Set(created.map(({ key }) => key)).size, 100);
    assert.equal(new Set(created.map(({ prefix }) => prefix)).size, 100);
    const open = await Promise.all(created.map((each) => opens(server, each.key)));
    assert.ok(open.every(Boolean));
  });
});

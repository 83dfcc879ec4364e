// Attacks on authorization requests and codes.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Browser } from "../../support/browser.ts";
import {
  authorizeUrl,
  type CreatedClient,
  callback,
  makePublicClient,
  makeUser,
  obtainCode,
  password,
  post,
  redirectOf,
  refused,
  type User,
} from "../../support/oauth.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { onEachDatabase, PorticoProcess } from "../../support/server.ts";

const every = "openid,profile,email,offline_access,posts:read,posts:write";
const offline = "openid offline_access posts:read";
const invalid = { status: 401, code: "invalid_credential" } as const;

onEachDatabase("oauth: attacks on authorization requests and codes", (database) => {
  let user: User;
  let client: CreatedClient;
  const server = serve(database, {
    prepare: async (server) => {
      user = await makeUser(server, "grace@example.com");
      client = await makePublicClient(server, every);
    },
  });
  const authorize = (changes: Record<string, string | null>, scope = "openid posts:read") =>
    new Browser().open(authorizeUrl(server, client, scope, changes).url);

  for (const [fact, uri] of [
    ["a trailing slash", `${callback}/`],
    ["dots", "https://app.example.com/x/../callback"],
    ["a query", `${callback}?x=1`],
    ["another case", "https://app.example.com/Callback"],
    ["another host", "https://app.example.com.evil.example/callback"],
    ["a user name", "https://app.example.com@evil.example/callback"],
    ["no value", null],
  ] as const) {
    test(`a redirect URI with ${fact} is an error page, never a redirect`, async () => {
      const shown = await authorize({ redirect_uri: uri });
      assert.equal(shown.status, 400);
      assert.equal(shown.location, undefined);
      assert.match(shown.headers.get("content-type") ?? "", /^text\/html/);
      if (uri) assert.ok(!shown.text.includes(uri));
    });
  }

  test("an unknown client is an error page, never a redirect", async () => {
    const shown = await authorize({ client_id: "client_01k00000000000000000000000" });
    assert.deepEqual([shown.status, shown.location], [400, undefined]);
  });

  for (const [fact, changes, error] of [
    ["no challenge", { code_challenge: null, code_challenge_method: null }, "invalid_request"],
    ["a plain challenge", { code_challenge_method: "plain" }, "invalid_request"],
    ["response_type token", { response_type: "token" }, "unsupported_response_type"],
    ["response_mode form_post", { response_mode: "form_post" }, "unsupported_response_mode"],
    ["an unknown scope", { scope: "openid posts:fly" }, "invalid_scope"],
    ["a scope that is not the client's", { scope: "openid users:read" }, "invalid_scope"],
    ["an unknown resource", { resource: "https://other.example.com" }, "invalid_target"],
  ] as const) {
    test(`${fact} is redirected as ${error} with the issuer`, async () => {
      const shown = await authorize(changes);
      const back = redirectOf(shown);
      const answer = new URLSearchParams(back.search || back.hash.slice(1));
      assert.equal(back.origin + back.pathname, callback);
      assert.equal(answer.get("error"), error);
      assert.equal(answer.get("iss"), `${server.url}/oauth`);
      assert.equal(answer.get("code"), null);
    });
  }

  for (const [fact, changes] of [
    ["a wrong verifier", { code_verifier: randomBytes(32).toString("base64url") }],
    ["another redirect URI", { redirect_uri: "https://app.example.com/other" }],
  ] as const) {
    test(`a code with ${fact} is invalid_grant`, async () => {
      const fields = await obtainCode(server, client, user, "openid posts:read");
      refused(await post(server, "/token", { ...fields, ...changes }), "invalid_grant");
    });
  }

  test("a code without its verifier, and of another client, is invalid_grant", async () => {
    const { code_verifier: _, ...fields } = await obtainCode(server, client, user, "openid posts:read");
    refused(await post(server, "/token", fields), "invalid_grant");
    const other = await makePublicClient(server, every);
    const theirs = await obtainCode(server, client, user, "openid posts:read");
    refused(await post(server, "/token", { ...theirs, client_id: other.clientId }), "invalid_grant");
  });

  test("a code that is used again is refused, and its tokens are revoked", async () => {
    const fields = await obtainCode(server, client, user, offline);
    const { body: tokens } = await post(server, "/token", fields);
    assert.equal((await server.request("/posts", { key: tokens.access_token })).status, 200);
    refused(await post(server, "/token", fields), "invalid_grant");
    await sleep(1_000);
    expectAnswer(await server.request("/posts", { key: tokens.access_token }), invalid);
    const refresh = { grant_type: "refresh_token", refresh_token: tokens.refresh_token };
    refused(await post(server, "/token", { ...refresh, client_id: client.clientId }), "invalid_grant");
  });

  test("of fifty concurrent redemptions of a code, at two processes, one succeeds", async () => {
    const { url } = server;
    const other = await PorticoProcess.start(server.workspace, {
      key: server.portico.key,
      env: { AUTH_URL: `${url}/oauth` },
    });
    try {
      const fields = await obtainCode(server, client, user, offline);
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) => post(index % 2 === 0 ? server : other, "/token", fields)),
      );
      const statuses = answers.map(({ status }) => status);
      assert.equal(statuses.filter((status) => status === 200).length, 1, statuses.join());
      for (const answer of answers.filter(({ status }) => status !== 200)) refused(answer, "invalid_grant");
    } finally {
      await other.stop();
    }
  });

  test("a user who denies access is redirected with access_denied", async () => {
    const browser = new Browser();
    const shown = await browser.follow(authorizeUrl(server, client, "openid").url);
    const signedIn = await browser.submit(shown, { email: user.email, password, choice: "sign-in" });
    const back = redirectOf(await browser.submit(signedIn, { choice: "cancel" }));
    assert.equal(back.searchParams.get("error"), "access_denied");
    assert.equal(back.searchParams.get("iss"), `${server.url}/oauth`);
  });

  test("Host and forwarding headers have no effect", async () => {
    const headers: Record<string, string> = {
      host: "evil.example",
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "https",
      forwarded: "host=evil.example",
    };
    for (const path of [
      "/oauth/.well-known/openid-configuration",
      "/.well-known/oauth-authorization-server/oauth",
    ]) {
      const answer = await server.request(path, { headers, key: null });
      assert.equal(answer.body.issuer, `${server.url}/oauth`);
      assert.ok(!answer.text.includes("evil"), answer.text);
    }
    const shown = await new Browser().open(authorizeUrl(server, client, "openid").url, { headers });
    assert.ok(shown.location?.startsWith(`${server.url}/oauth/`), shown.text);
  });
});

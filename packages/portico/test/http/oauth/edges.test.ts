// Edge cases of requests to the authorization server.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser } from "../../support/browser.ts";
import {
  authorizeUrl,
  basic,
  type CreatedClient,
  callback,
  makeClient,
  makePublicClient,
  makeUser,
  password,
  post,
  refused,
  type User,
} from "../../support/oauth.ts";
import { exchange, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

onEachDatabase("oauth edges", (database) => {
  let user: User;
  let client: CreatedClient;
  let machine: CreatedClient;
  const server = serve(database, {
    prepare: async (server) => {
      user = await makeUser(server, "grace@example.com");
      client = await makePublicClient(server, "openid,posts:read");
      machine = await makeClient(server, "--type", "confidential", "--scopes", "posts:read");
    },
  });
  const credentials = { grant_type: "client_credentials" };

  for (const scope of [null, ""]) {
    test(`an authorization request ${scope === null ? "without" : "with an empty"} scope is refused at once`, async () => {
      const shown = await new Browser().open(authorizeUrl(server, client, "", { scope }).url);
      const parameters = new URL(shown.location!).searchParams;
      assert.equal(parameters.get("error"), "invalid_scope");
      assert.match(parameters.get("error_description")!, /scope/);
    });
  }

  test("a client without scopes can introspect tokens, but gets no token with access", async () => {
    const body = { name: "Resource server", type: "confidential", scopes: [], mayIntrospect: true };
    const resourceServer = await server.create("/v1/oauth-clients", body);
    const { body: token } = await post(server, "/token", credentials, basic(machine));
    const seen = await post(server, "/introspect", { token: token.access_token }, basic(resourceServer));
    assert.equal(seen.body.active, true, seen.text);
    refused(
      await post(server, "/token", { ...credentials, scope: "posts:read" }, basic(resourceServer)),
      "invalid_scope",
    );
    const { status, body: bare } = await post(server, "/token", credentials, basic(resourceServer));
    assert.equal(status, 200);
    assert.equal((await server.request("/posts", { key: bare.access_token })).status, 403);
  });

  test("a client that lost all scopes can request none", async () => {
    const bare = await makePublicClient(server, "openid,posts:read");
    const path = `/v1/oauth-clients/${bare.id}`;
    assert.equal((await server.request(path, { method: "PATCH", body: { scopes: [] } })).status, 200);
    for (const scope of ["openid", "posts:read", "openid profile"]) {
      const shown = await new Browser().open(authorizeUrl(server, bare, scope).url);
      assert.equal(new URL(shown.location!).searchParams.get("error"), "invalid_scope");
    }
  });

  for (const path of ["/token", "/introspect", "/revoke"]) {
    for (const [fact, authorization] of [
      ["is not base64", "Basic %%%"],
      ["has no colon", `Basic ${Buffer.from("nobody").toString("base64")}`],
      ["has no secret", `Basic ${Buffer.from("client_x:").toString("base64")}`],
      ["is badly encoded", `Basic ${Buffer.from("client_x:%zz").toString("base64")}`],
      ["says nothing", "Basic"],
      ["is of another scheme", "Bearer x"],
    ] as const) {
      test(`${path} requests another Authorization header if it ${fact}`, async () => {
        const answer = await post(server, path, { ...credentials, token: "x" }, { authorization });
        refused(answer, "invalid_client", 401);
        assert.match(answer.headers.get("www-authenticate") ?? "", /^Basic realm=/);
      });
    }
  }

  test("at /userinfo an invalid Authorization is an invalid token", async () => {
    const answer = await server.request("/oauth/userinfo", {
      headers: { authorization: "Bearer" },
      key: null,
    });
    assert.notEqual(answer.body.error, "invalid_client");
    assert.doesNotMatch(answer.headers.get("www-authenticate") ?? "", /^Basic/);
  });

  test("a request target in absolute form is its path", async () => {
    const { host } = new URL(server.url);
    const lines = (target: string): string =>
      `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    for (const target of ["/oauth/jwks", "/oauth/jwks?x=1", "/oauth/.well-known/openid-configuration"]) {
      const [plain, absolute] = await Promise.all(
        [target, `http://elsewhere.example${target}`].map((each) => exchange(server.url, lines(each))),
      );
      assert.match(absolute!, /^HTTP\/1\.1 200 /);
      assert.equal(absolute!.split("\r\n\r\n")[1], plain!.split("\r\n\r\n")[1]);
    }
  });

  test("an encoded body and repeated credentials are refused", async () => {
    const encoded = await post(server, "/token", credentials, {
      ...basic(machine),
      "content-encoding": "gzip",
    });
    refused(encoded, "invalid_request", 415);
    const { authorization } = basic(machine);
    const { host } = new URL(server.url);
    const body = "grant_type=client_credentials";
    const answer = await exchange(
      server.url,
      [
        ...["POST /oauth/token HTTP/1.1", `Host: ${host}`, "Connection: close"],
        ...[`Authorization: ${authorization}`, `Authorization: ${authorization}`],
        ...["Content-Type: application/x-www-form-urlencoded", `Content-Length: ${body.length}`, "", body],
      ].join("\r\n"),
    );
    assert.match(answer, /^HTTP\/1\.1 400 /);
    assert.match(answer, /"error":"invalid_request"/);
  });

  test("an oversized form gets an error page", async () => {
    const { url } = await new Browser().follow(authorizeUrl(server, client, "openid").url);
    const body = new URLSearchParams({ email: "x".repeat(60_000) });
    const shown = await new Browser().open(url, { method: "POST", body });
    assert.equal(shown.status, 413);
    assert.match(shown.headers.get("content-type") ?? "", /^text\/html/);
    assert.match(shown.text, /<h1>Something went wrong/);
    assert.match(shown.headers.get("content-security-policy") ?? "", /default-src 'none'/);
  });

  test("a pushed request that is used concurrently gives one code", async () => {
    const authorization = authorizeUrl(server, client, "openid posts:read");
    const pushed = await post(server, "/par", Object.fromEntries(new URL(authorization.url).searchParams));
    assert.equal(pushed.status, 201, pushed.text);
    const query = new URLSearchParams({ client_id: client.clientId, request_uri: pushed.body.request_uri });
    const browser = new Browser();
    const first = await browser.follow(authorizeUrl(server, client, "openid posts:read").url);
    const consent = await browser.submit(first, { email: user.email, password, choice: "sign-in" });
    await browser.submit(consent, { choice: "allow" });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => browser.open(`${server.url}/oauth/authorize?${query}`)),
    );
    const parameters = answers.map(({ location }) => new URL(location ?? callback).searchParams);
    assert.equal(parameters.filter((each) => each.has("code")).length, 1);
    const errors = new Set(parameters.flatMap((each) => each.getAll("error")));
    assert.ok(
      [...errors].every((error) => error === "invalid_request_uri"),
      [...errors].join(),
    );
  });

  test("connecting many devices does not reach the limit of user codes", async () => {
    const words = ["--type", "public", "--grant-types", "device_code", "--scopes", "openid", "--first-party"];
    const { clientId } = await makeClient(server, ...words);
    const browser = new Browser();
    for (let devices = 0; devices < 32; devices += 1) {
      const { body: device } = await post(server, "/device_authorization", {
        client_id: clientId,
        scope: "openid",
      });
      let shown = await browser.submit(await browser.open(`${server.url}/oauth/device`), {
        user_code: device.user_code,
      });
      shown = await browser.submit(shown, { confirm: "yes" });
      if (devices === 0) {
        shown = await browser.submit(shown, { email: user.email, password, choice: "sign-in" });
        const grant = { grant_type: deviceGrant, device_code: device.device_code, client_id: clientId };
        assert.equal((await post(server, "/token", grant)).status, 200);
      }
      assert.match(shown.text, /connected/i, `${devices}: ${shown.status}`);
    }
  });

  for (const [fact, name] of [
    ["changes the direction of text", "Good \u202Egnp.exe"],
    ["breaks lines", "Planner\nYour bank"],
    ["has invisible characters", "Plan\u200Bner"],
  ] as const) {
    test(`a name of a client that ${fact} is refused`, async () => {
      const body = { name, type: "confidential", scopes: ["posts:read"] };
      const { status, body: response } = await server.request("/v1/oauth-clients", { body });
      assert.equal(status, 422);
      assert.deepEqual([response.error.code, response.error.details[0].field], ["validation_error", "name"]);
    });
  }

  test("invalid keys are refused when a client is created", async () => {
    const jwks = { keys: [{ kty: "EC", crv: "P-256", x: "a", y: "b" }] };
    const body = { name: "Planner", type: "confidential", scopes: ["posts:read"], jwks };
    const { status, body: response } = await server.request("/v1/oauth-clients", { body });
    assert.equal(status, 422);
    assert.equal(response.error.details[0].field, "jwks");
  });
});

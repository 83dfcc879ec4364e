// Errors of the OAuth endpoints (RFC 6749, section 5.2).

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
  post,
  redirectOf,
  refused,
  signInAndAllow,
  type User,
} from "../../support/oauth.ts";
import { serve } from "../../support/scenario.ts";
import { onOneDatabase } from "../../support/server.ts";

const ofMachine = { grant_type: "client_credentials", scope: "posts:read" };
const maxAttempts = 20;

onOneDatabase("oauth errors", (database) => {
  let user: User;
  let machine: CreatedClient;
  let client: CreatedClient;
  const server = serve(database, {
    env: { PORTICO_FAILED_AUTH_QUOTA: `${maxAttempts}/72000` },
    prepare: async (server) => {
      user = await makeUser(server, "grace@example.com");
      machine = await makeClient(server, "--type", "confidential", "--scopes", "posts:read");
      client = await makePublicClient(server, "openid,posts:read");
    },
  });
  const request = (path: string, options: { method?: string; headers?: Record<string, string> }) =>
    server.request(`/oauth${path}`, { ...options, key: null });

  for (const [path, method, allowed] of [
    ["/token", "GET", "POST, OPTIONS"],
    ["/introspect", "GET", "POST, OPTIONS"],
    ["/revoke", "DELETE", "POST, OPTIONS"],
    ["/par", "GET", "POST, OPTIONS"],
    ["/device_authorization", "GET", "POST, OPTIONS"],
    ["/jwks", "PUT", "GET, HEAD, OPTIONS"],
    ["/authorize", "DELETE", "GET, HEAD, POST, OPTIONS"],
  ] as const) {
    test(`${method} ${path} is 405 with an OAuth error, and lists each method once`, async () => {
      const answer = await request(path, { method });
      refused(answer, "invalid_request", 405);
      const methods = (answer.headers.get("allow") ?? "").split(", ");
      assert.deepEqual(methods.sort(), allowed.split(", ").sort());
    });
  }

  for (const [path, allowed] of [
    ["/token", "POST, OPTIONS"],
    ["/jwks", "GET, HEAD, OPTIONS"],
    ["/.well-known/openid-configuration", "GET, HEAD, OPTIONS"],
  ] as const) {
    test(`OPTIONS ${path} lists the methods, and answers preflight requests`, async () => {
      const requests: Record<string, string>[] = [{}, { origin: "https://app.example.com" }];
      for (const headers of requests) {
        const answer = await request(path, { method: "OPTIONS", headers });
        assert.deepEqual([answer.status, answer.headers.get("allow"), answer.text], [204, allowed, ""]);
      }
      const headers = { origin: "https://app.example.com", "access-control-request-method": "GET" };
      const preflight = await request(path, { method: "OPTIONS", headers });
      assert.equal(preflight.status, 204);
      assert.ok(preflight.headers.get("access-control-allow-methods"));
    });
  }

  test("a grant type that the client may not use is unauthorized_client", async () => {
    refused(
      await post(server, "/token", { ...ofMachine, client_id: client.clientId }),
      "unauthorized_client",
    );
    const device = await post(server, "/device_authorization", { client_id: client.clientId });
    refused(device, "unauthorized_client");
  });

  for (const path of ["/token", "/introspect", "/revoke", "/par", "/device_authorization"]) {
    test(`${path} without client authentication is invalid_client with a challenge`, async () => {
      for (const fields of [ofMachine, { ...ofMachine, client_id: machine.clientId }]) {
        const answer = await post(server, path, { ...fields, token: "x" });
        refused(answer, "invalid_client", 401);
        assert.match(answer.headers.get("www-authenticate") ?? "", /^Basic realm="http/);
      }
    });
  }

  test("authorization and sign-out requests can be posted, and use the session", async () => {
    const { url } = authorizeUrl(server, client, "openid posts:read");
    const send = (browser: Browser, address: string) => {
      const { origin, pathname, search } = new URL(address);
      return browser.open(`${origin}${pathname}`, { method: "POST", body: new URLSearchParams(search) });
    };
    const browser = new Browser();
    const redirect = await send(browser, url);
    assert.equal(redirect.status, 303);
    const back = await signInAndAllow(browser, redirect.location!, user);
    assert.ok(back.searchParams.has("code"), back.href);
    const again = await browser.follow((await send(browser, url)).location!);
    assert.ok(redirectOf(again).href.startsWith(callback));
    const leaving = await browser.follow(
      (await send(browser, `${server.url}/oauth/logout?state=x`)).location!,
    );
    assert.match(leaving.text, /Sign out of Portico/);
    const left = await browser.submit(leaving, { logout: "yes" });
    assert.match(left.text, /You are signed out/);
    const words = ["a", "b", "c", "d"].map((name) => `${name}=${"x".repeat(4_000)}`);
    const long = await send(browser, `${url}&${words.join("&")}`);
    assert.equal(long.status, 413);
  });

  test("failed client authentications are limited by address, and other clients are not", async () => {
    const wrong = basic({ ...machine, clientSecret: "wrong" });
    const statuses: number[] = [];
    for (let tries = 0; tries < maxAttempts; tries += 1) {
      const path = ["/token", "/introspect", "/revoke"][tries % 3]!;
      statuses.push((await post(server, path, { ...ofMachine, token: "x" }, wrong)).status);
    }
    assert.ok(statuses.includes(401), statuses.join());
    const slowed = await post(server, "/token", ofMachine, wrong);
    refused(slowed, "temporarily_unavailable", 429);
    assert.match(slowed.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    assert.equal(slowed.headers.get("www-authenticate"), null);
    assert.equal((await post(server, "/token", ofMachine, basic(machine))).status, 200);
  });
});

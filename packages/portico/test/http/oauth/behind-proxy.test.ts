// The authorization server behind a reverse proxy.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Browser } from "../../support/browser.ts";
import {
  authorizeUrl,
  basic,
  callback,
  makeClient,
  makePublicClient,
  makeUser,
  password,
  signInAndAllow,
} from "../../support/oauth.ts";
import { serve } from "../../support/scenario.ts";

const issuer = "https://auth.example.com/sso";

describe("oauth behind a proxy that removes a path prefix", () => {
  const folder = "https://example.com/api";
  const server = serve("sqlite", { env: { PUBLIC_URL: folder, AUTH_URL: `${folder}/oauth` } });

  test("metadata are at the paths of RFC 8414 and RFC 9728", async () => {
    const metadata = (path: string) => server.request(`/.well-known/${path}`, { key: null });
    for (const path of ["/oauth", "/api/oauth"]) {
      const { status, body } = await metadata(`oauth-authorization-server${path}`);
      assert.deepEqual([status, body.issuer], [200, `${folder}/oauth`]);
    }
    for (const path of ["", "/api"]) {
      const { status, body } = await metadata(`oauth-protected-resource${path}`);
      assert.deepEqual([status, body.authorization_servers], [200, [`${folder}/oauth`]]);
      const ofMcp = await metadata(`oauth-protected-resource${path}/mcp`);
      assert.deepEqual([ofMcp.status, ofMcp.body.resource], [200, `${server.url}/mcp`]);
    }
  });
});

describe("oauth behind a proxy", () => {
  const server = serve("sqlite", { env: { AUTH_URL: issuer } });

  test("its URLs begin with AUTH_URL, and it is served at the path of AUTH_URL", async () => {
    for (const path of ["/sso/.well-known/openid-configuration", "/.well-known/openid-configuration/sso"]) {
      const { status, body } = await server.request(path, { key: null });
      assert.deepEqual([status, body.issuer, body.token_endpoint], [200, issuer, `${issuer}/token`]);
    }
    assert.equal((await server.request("/oauth/jwks", { key: null })).status, 404);
    const { body } = await server.request("/.well-known/oauth-protected-resource", { key: null });
    assert.deepEqual(body.authorization_servers, [issuer]);
  });

  test("its tokens are accepted by the API, and its cookies are secure", async () => {
    const machine = await makeClient(server, "--type", "confidential", "--scopes", "posts:read");
    const body = new URLSearchParams({ grant_type: "client_credentials", scope: "posts:read" });
    const answer = await fetch(`${server.url}/sso/token`, { method: "POST", body, headers: basic(machine) });
    const { access_token: key } = Object(await answer.json());
    assert.equal((await server.request("/posts", { key })).status, 200);

    const { clientId } = await makePublicClient(server, "openid");
    const query = new URLSearchParams({
      ...{ client_id: clientId, response_type: "code", redirect_uri: callback, scope: "openid" },
      ...{ code_challenge: "A".repeat(43), code_challenge_method: "S256" },
    });
    const shown = await new Browser().open(`${server.url}/sso/authorize?${query}`);
    assert.match(shown.headers.get("location") ?? "", /^(https:\/\/auth\.example\.com)?\/sso\/interaction\//);
    const cookies = shown.headers.getSetCookie();
    assert.ok(cookies.length > 0);
    for (const cookie of cookies)
      assert.match(cookie, /path=\/sso\/.*; secure; httponly|path=\/sso.*secure.*httponly/i);
  });
});

describe("oauth behind a trusted proxy", () => {
  const server = serve("sqlite", { env: { PORTICO_TRUSTED_PROXIES: "127.0.0.1" } });
  const elsewhere = "198.51.100.7";

  test("an attack from one address does not block another one, whatever headers it sends", async () => {
    const user = await makeUser(server, "grace@example.com");
    const { url } = authorizeUrl(server, await makePublicClient(server, "openid"), "openid");
    const signIn = async (from: string, email: string, typed: string): Promise<number> => {
      const browser = new Browser("node", { "x-forwarded-for": from });
      const shown = await browser.follow(url);
      return (await browser.send(shown, { email, password: typed, choice: "sign-in" })).status;
    };
    const statuses = await Promise.all(
      Array.from({ length: 101 }, (_, index) =>
        signIn(`${index}.1.1.1, 203.0.113.5`, `nobody${index}@example.com`, "wrong horse"),
      ),
    );
    assert.ok(statuses.includes(401));
    // The quota refills by one attempt every six seconds, and hashing a hundred passwords can take that long.
    for (let tries = 0; tries < 20; tries += 1)
      if ((await signIn("203.0.113.5", `nobody${tries}@example.com`, "wrong horse")) === 429) break;
    assert.equal(await signIn("203.0.113.5", user.email, password), 429);
    assert.equal(await signIn(elsewhere, user.email, password), 303);
  });

  test("a user sees the address of each session", async () => {
    const user = await makeUser(server, "hopper@example.com");
    const browser = new Browser("node", { "x-forwarded-for": elsewhere });
    const client = await makePublicClient(server, "openid");
    await signInAndAllow(browser, authorizeUrl(server, client, "openid").url, user);
    const { text } = await browser.open(`${server.url}/oauth/sessions`);
    assert.match(text, /198\.51\.100\.7/);
  });
});

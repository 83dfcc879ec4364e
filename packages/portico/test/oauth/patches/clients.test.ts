// Why errors and secrets of clients are handled by patches.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type Provider from "oidc-provider";
import { hashToken } from "../../../src/auth/tokens/hash-token.ts";
import { compareHashedSecrets } from "../../../src/oauth/provider/patches/hashed-client-secrets.ts";
import { addSubject } from "../../../src/oauth/provider/patches/introspection-subject.ts";
import { challengeClient } from "../../../src/oauth/provider/patches/missing-client-authentication.ts";
import { reportUnauthorizedClient } from "../../../src/oauth/provider/patches/unauthorized-client.ts";
import { bareProvider, jwtAccessTokens } from "./bare-provider.ts";

const machine = { grant_type: "client_credentials" };

suite("clients of the bare oidc-provider", () => {
  const bare = bareProvider();

  for (const [what, fields, headers] of [
    ["no client authentication", machine, {}],
    ["a malformed Authorization header", machine, { authorization: "Basic not~base64" }],
    ["an Authorization header of another scheme", machine, { authorization: "Digest x=1" }],
    ["an Authorization header without a colon", machine, { authorization: `Basic ${btoa("nothing")}` }],
  ] as const) {
    test(`missing-client-authentication: ${what} is 400 invalid_request`, async () => {
      const { status, body } = await bare.post("/token", fields, undefined, headers);
      assert.deepEqual([status, body.error], [400, "invalid_request"]);
      const answer = answerOf(status, body);
      challengeClient("https://id.example.com")(answer as never);
      assert.deepEqual([answer.status, answer.body.error], [401, "invalid_client"]);
      assert.match(answer.headers.get("WWW-Authenticate")!, /^Basic realm="https:\/\/id\.example\.com"/);
    });
  }

  test("missing-client-authentication: a wrong secret in the form is 401 without a challenge", async () => {
    const { status, headers } = await bare.post("/token", {
      ...machine,
      ...{ client_id: "app", client_secret: "wrong" },
    });
    assert.equal(status, 401);
    assert.equal(headers.get("WWW-Authenticate"), null);
  });

  test("unauthorized-client: a grant type that the client may not use is invalid_request", async () => {
    const { body } = await bare.post("/token", {
      ...{ grant_type: "refresh_token", refresh_token: "x", client_id: "tv" },
    });
    assert.equal(body.error, "invalid_request");
    const answer = answerOf(400, body);
    reportUnauthorizedClient(answer as never);
    assert.equal(answer.body.error, "unauthorized_client");
  });

  test("unauthorized-client: at the device endpoint too", async () => {
    const { body } = await bare.post("/device/auth", { scope: "openid" }, "correct");
    assert.equal(body.error, "invalid_request");
    const answer = answerOf(400, body);
    reportUnauthorizedClient(answer as never);
    assert.equal(answer.body.error, "unauthorized_client");
  });

  test("hashed-client-secrets: the library calls the method that the patch replaces, with the secret", async () => {
    assert.equal((await bare.post("/token", machine, "correct")).status, 200);
    const { Client } = bare.provider as unknown as Clients;
    const original = Client.prototype.compareClientSecret;
    assert.equal(original.length, 1);
    try {
      compareHashedSecrets(bare.provider);
      Object.defineProperty(Client.prototype, "secrets", {
        configurable: true,
        value: [{ hash: hashToken("another"), expiresAt: null }],
      });
      assert.equal((await bare.post("/token", machine, "correct")).status, 401);
      assert.equal((await bare.post("/token", machine, "another")).status, 200);
    } finally {
      Client.prototype.compareClientSecret = original;
    }
  });

  test("hashed-client-secrets: the library refuses a confidential client without a secret", async () => {
    const { Client } = bare.provider as unknown as Clients;
    const metadata = { client_id: "other", redirect_uris: ["https://app.example.com"] };
    await assert.rejects(async () => new Client(metadata), {
      error_description: "client_secret is mandatory property",
    });
  });

  test("client-credentials-scope: without scope the token has none", async () => {
    const { body } = await bare.post("/token", machine, "correct");
    assert.equal(body.scope, undefined);
  });

  test("introspection-subject: a token of the client credentials grant has no sub", async () => {
    const token = (await bare.post("/token", machine, "correct")).body.access_token;
    const { body } = await bare.post("/token/introspection", { token }, "correct");
    assert.deepEqual([body.active, body.client_id, body.sub], [true, "app", undefined]);
    addSubject({ path: "/introspect", body } as never);
    assert.equal(body.sub, "app");
  });

  test("single-use: concurrent requests with one refresh token all succeed on an adapter that only stores", async () => {
    const { provider } = bare;
    const grant = new provider.Grant({ accountId: "jane", clientId: "app" });
    grant.addOIDCScope("openid offline_access");
    const grantId = await grant.save();
    const client = await provider.Client.find("app");
    const scope = "openid offline_access";
    const token = new provider.RefreshToken({
      ...{ accountId: "jane", client, grantId, scope, gty: "authorization_code" },
    } as never);
    const fields = { grant_type: "refresh_token", refresh_token: await token.save() };
    const responses = await Promise.all(
      Array.from({ length: 3 }, () => bare.post("/token", fields, "correct")),
    );
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 200, 200],
    );
  });
});

suite("JWT access tokens of the bare oidc-provider", () => {
  const bare = bareProvider(jwtAccessTokens);

  test("jwt-access-tokens: introspection and revocation refuse a JWT", async () => {
    const token = (await bare.post("/token", machine, "correct")).body.access_token;
    assert.match(token, /^eyJ/);
    for (const path of ["/token/introspection", "/token/revocation"]) {
      const { status, body } = await bare.post(path, { token }, "correct");
      assert.deepEqual([status, body.error], [400, "unsupported_token_type"], path);
    }
  });

  test("jwt-access-tokens: a marked JWT is looked up in the adapter", async () => {
    const { body } = await bare.post("/token/introspection", { token: "~eyJx.y.z" }, "correct");
    assert.deepEqual(body, { active: false });
  });

  test("jwt-access-tokens: a stored token with an audience is refused by the userinfo endpoint", async () => {
    const { provider, records } = bare;
    const grant = new provider.Grant({ accountId: "jane", clientId: "app" });
    grant.addOIDCScope("openid");
    const client = await provider.Client.find("app");
    const members = { accountId: "jane", client, grantId: await grant.save(), scope: "openid" };
    const token = new provider.AccessToken({ ...members, gty: "authorization_code" } as never);
    const value = await token.save();
    const authorization = `Bearer ${value}`;
    assert.equal((await bare.get("/me", { authorization })).status, 200);
    records.set(`AccessToken ${value}`, { ...records.get(`AccessToken ${value}`), aud: "https://api" });
    assert.equal((await bare.get("/me", { authorization })).status, 401);
  });
});

interface Clients {
  readonly Client: {
    new (metadata: object): object;
    prototype: { compareClientSecret(secret: string): boolean };
  } & Provider["Client"];
}

/** The part of a Koa context that the patches use. */
function answerOf(status: number, body: { error: string }) {
  const headers = new Map<string, string>();
  return {
    ...{ path: "/token", status, body, headers },
    response: { get: (name: string) => headers.get(name) ?? "" },
    set: (name: string, value: string) => headers.set(name, value),
  };
}

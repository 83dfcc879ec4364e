// Attacks on the authentication of clients at the token endpoint.

import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { test } from "node:test";
import {
  basic,
  type CreatedClient,
  makeClient,
  makePublicClient,
  makeUser,
  password,
  post,
  refused,
  type User,
} from "../../support/oauth.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const every = "openid,profile,email,offline_access,posts:read,posts:write";

onEachDatabase("oauth: attacks on the token endpoint", (database) => {
  let user: User;
  let client: CreatedClient;
  let machine: CreatedClient;
  const server = serve(database, {
    prepare: async (server) => {
      user = await makeUser(server, "grace@example.com");
      client = await makePublicClient(server, every);
      machine = await makeClient(server, "--type", "confidential", "--scopes", "posts:read");
    },
  });

  test("the password grant is not offered", async () => {
    const fields = { grant_type: "password", username: user.email, password, client_id: client.clientId };
    refused(await post(server, "/token", fields), "unsupported_grant_type");
  });

  test("an unknown client is refused at the token endpoint with an OAuth error", async () => {
    const fields = { grant_type: "client_credentials", scope: "posts:read" };
    refused(
      await post(server, "/token", fields, basic({ ...machine, clientSecret: "wrong" })),
      "invalid_client",
      401,
    );
    refused(
      await post(server, "/token", fields, basic({ ...machine, clientId: "client_x" })),
      "invalid_client",
      401,
    );
    refused(await post(server, "/token", { ...fields, client_id: machine.clientId }), "invalid_client", 401);
    const both = { ...fields, client_id: machine.clientId, client_secret: machine.clientSecret! };
    refused(await post(server, "/token", both, basic(machine)), "invalid_request");
    refused(await post(server, "/token", fields), "invalid_client", 401);
    refused(
      await post(server, "/token", { ...fields, scope: "posts:write" }, basic(machine)),
      "invalid_scope",
    );
    refused(await post(server, "/token", { ...fields, scope: "posts:fly" }, basic(machine)), "invalid_scope");
    const html = await post(server, "/token", fields, {
      ...basic({ ...machine, clientSecret: "x" }),
      accept: "text/html",
    });
    refused(html, "invalid_client", 401);
  });

  test("a body that is too large or of another media type is refused with an OAuth error", async () => {
    const large = await post(server, "/token", { grant_type: "x".repeat(100_000) });
    assert.deepEqual([large.status, large.body.error], [413, "invalid_request"]);
    const headers = { "content-type": "application/json" };
    refused(await post(server, "/token", { grant_type: "client_credentials" }, headers), "invalid_request");
  });

  test("client assertions are refused if replayed, for another audience, from the future, too long-lived, unsigned, signed with the public key as a secret, or by an unknown key", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const jwks = { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "one", alg: "ES256" }] };
    const words = ["--type", "confidential", "--scopes", "posts:read", "--auth-method", "private_key_jwt"];
    const { clientId } = await makeClient(server, ...words, "--jwks", JSON.stringify(jwks));
    const assertion = (
      header: object = {},
      claims: object = {},
      signer = (text: string) =>
        sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" }),
    ): string => {
      const now = Math.floor(Date.now() / 1000);
      const standard = {
        iss: clientId,
        sub: clientId,
        aud: `${server.url}/oauth`,
        jti: randomBytes(8).toString("hex"),
      };
      const parts = [
        { alg: "ES256", kid: "one", ...header },
        { ...standard, iat: now, exp: now + 60, ...claims },
      ];
      const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
      return `${text}.${signer(text).toString("base64url")}`;
    };
    const send = (text: string) =>
      post(server, "/token", {
        grant_type: "client_credentials",
        scope: "posts:read",
        client_assertion: text,
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      });
    const good = assertion();
    assert.equal((await send(good)).status, 200);
    refused(await send(good), "invalid_client", 401);
    const once = assertion();
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(once)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    refused(await send(assertion({}, { aud: "https://other.example.com" })), "invalid_client", 401);
    refused(await send(assertion({}, { aud: `${server.url}/oauth/token` })), "invalid_client", 401);
    refused(await send(assertion({ alg: "none" }, {}, () => Buffer.alloc(0))), "invalid_client", 401);
    const pem = publicKey.export({ format: "pem", type: "spki" });
    const hmac = (text: string) => createHmac("sha256", pem).update(text).digest();
    refused(await send(assertion({ alg: "HS256" }, {}, hmac)), "invalid_client", 401);
    refused(await send(assertion({ kid: "two" })), "invalid_client", 401);
    const past = Math.floor(Date.now() / 1000) - 31;
    refused(await send(assertion({}, { exp: past - 1 })), "invalid_client", 401);
    const now = past + 31;
    assert.equal((await send(assertion({}, { iat: now + 20, exp: now + 3_590 }))).status, 200);
    refused(await send(assertion({}, { iat: now + 40 })), "invalid_client", 401);
    refused(await send(assertion({}, { exp: now + 3_700 })), "invalid_client", 401);
  });

  test("a device that polls too fast gets slow_down", async () => {
    const words = ["--type", "public", "--grant-types", "device_code", "--scopes", "posts:read"];
    const { clientId } = await makeClient(server, ...words);
    const { body } = await post(server, "/device_authorization", {
      client_id: clientId,
      scope: "posts:read",
    });
    const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
    const poll = () =>
      post(server, "/token", { grant_type, device_code: body.device_code, client_id: clientId });
    const errors = [];
    for (let polls = 0; polls < 16; polls += 1) errors.push((await poll()).body.error);
    assert.equal(errors[0], "authorization_pending");
    assert.equal(errors.at(-1), "slow_down");
  });
});

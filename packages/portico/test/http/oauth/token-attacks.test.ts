// Attacks on access tokens and refresh tokens.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openReader } from "../../support/database-reader.ts";
import {
  basic,
  type CreatedClient,
  makeClient,
  makePublicClient,
  makeUser,
  obtainCode,
  obtainTokens,
  post,
  refused,
  type User,
} from "../../support/oauth.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const every = "openid,profile,email,offline_access,posts:read,posts:write";
const offline = "openid offline_access posts:read";
const invalid = { status: 401, code: "invalid_credential" } as const;

onEachDatabase("oauth: attacks on tokens", (database) => {
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

  test("an old refresh token is refused, and the newest is revoked too", async () => {
    const { refresh_token: first } = await obtainTokens(server, client, user, offline);
    const refresh = (token: string) =>
      post(server, "/token", {
        grant_type: "refresh_token",
        refresh_token: token,
        client_id: client.clientId,
      });
    const { body: second } = await refresh(first);
    const { body: third } = await refresh(second.refresh_token);
    refused(await refresh(first), "invalid_grant");
    refused(await refresh(third.refresh_token), "invalid_grant");
    await sleep(1_000);
    expectAnswer(await server.request("/posts", { key: third.access_token }), invalid);
  });

  test("of ten concurrent uses of a refresh token one succeeds", async () => {
    const { refresh_token: token } = await obtainTokens(server, client, user, offline);
    const fields = { grant_type: "refresh_token", refresh_token: token, client_id: client.clientId };
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(server, "/token", fields)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    for (const answer of answers.filter(({ status }) => status !== 200)) refused(answer, "invalid_grant");
  });

  test("a refresh token cannot extend the scope, and works for its own client only", async () => {
    const { refresh_token: token } = await obtainTokens(server, client, user, offline);
    const fields = { grant_type: "refresh_token", refresh_token: token, client_id: client.clientId };
    refused(await post(server, "/token", { ...fields, scope: "openid posts:write" }), "invalid_scope");
    const { clientId } = await makePublicClient(server, every);
    refused(await post(server, "/token", { ...fields, client_id: clientId }), "invalid_grant");
  });

  test("ID tokens, refresh tokens and modified access tokens are refused by the API", async () => {
    const tokens = await obtainTokens(server, client, user, offline);
    const [head, body, signature] = tokens.access_token.split(".");
    const claims = JSON.parse(Buffer.from(body, "base64url").toString());
    const wider = Buffer.from(JSON.stringify({ ...claims, scope: "users:read" })).toString("base64url");
    const unsigned = Buffer.from(JSON.stringify({ alg: "none", typ: "at+jwt" })).toString("base64url");
    for (const key of [
      tokens.id_token,
      tokens.refresh_token,
      `${head}.${wider}.${signature}`,
      `${unsigned}.${body}.`,
      `${head}.${body}.${"A".repeat(86)}`,
      `${tokens.access_token}.x`,
      "eyJ.eyJ.x",
    ])
      expectAnswer(await server.request("/posts", { key }), invalid);
  });

  test("a token in the query, and two credentials at once, are malformed", async () => {
    const { access_token: token } = await obtainTokens(server, client, user, "openid posts:read");
    expectAnswer(await server.request(`/posts?access_token=${token}`, { key: token }), {
      status: 400,
      code: "credential_in_query",
    });
    const headers = { "x-api-key": server.portico.key };
    expectAnswer(await server.request("/posts", { key: token, headers }), {
      status: 400,
      code: "malformed_request",
    });
  });

  test("modified tokens and those of other clients are introspected as inactive", async () => {
    const words = ["--type", "confidential", "--scopes", "posts:read"];
    const [stranger, resourceServer] = [
      await makeClient(server, ...words),
      await makeClient(server, ...words, "--resource-server"),
    ];
    const { body: own } = await post(
      server,
      "/token",
      { grant_type: "client_credentials", scope: "posts:read" },
      basic(machine),
    );
    const introspect = async (by: CreatedClient, token: string) =>
      (await post(server, "/introspect", { token }, basic(by))).body;
    assert.equal((await introspect(machine, own.access_token)).active, true);
    assert.deepEqual(await introspect(stranger, own.access_token), { active: false });
    const seen = await introspect(resourceServer, own.access_token);
    assert.deepEqual([seen.sub, seen.client_id], [machine.clientId, machine.clientId]);
    assert.deepEqual(await introspect(machine, `${own.access_token}x`), { active: false });
    assert.deepEqual(await introspect(machine, "nothing"), { active: false });
    const tokens = await obtainTokens(server, client, user, offline);
    assert.deepEqual(await introspect(resourceServer, tokens.refresh_token), { active: false });
    refused(
      await post(
        server,
        "/introspect",
        { token: own.access_token },
        basic({ ...machine, clientSecret: "x" }),
      ),
      "invalid_client",
      401,
    );
    await post(server, "/revoke", { token: own.access_token }, basic(stranger));
    assert.equal((await introspect(machine, own.access_token)).active, true);
  });

  test("an access token gives access to its tenant's rows only", async () => {
    const { tenant } = await server.command("tenant", "create", "--name", "Other");
    const theirs = await makeClient(
      server,
      "--type",
      "confidential",
      "--scopes",
      "posts:read",
      "--tenant",
      tenant.id,
    );
    const fields = { grant_type: "client_credentials", scope: "posts:read" };
    const { body } = await post(server, "/token", fields, basic(theirs));
    const seen = await server.request("/posts", { key: body.access_token });
    assert.deepEqual(seen.body.data, []);
  });

  test("no stored value is a usable secret", async () => {
    const tokens = await obtainTokens(server, client, user, offline);
    const fields = await obtainCode(server, client, user, "openid");
    const secrets = [tokens.refresh_token, tokens.access_token, fields["code"], machine.clientSecret!];
    const reader = openReader(server.workspace.databaseUrl);
    try {
      const tables = ["oauth_records", "signing_keys", "oauth_clients", "client_secrets", "events"];
      const rows = await Promise.all(tables.map((table) => reader.rows(`select * from ${table}`)));
      const text = JSON.stringify(rows);
      for (const secret of secrets) assert.ok(!text.includes(secret!));
      assert.doesNotMatch(text, /"d":|PRIVATE/);
    } finally {
      await reader.close();
    }
  });
});

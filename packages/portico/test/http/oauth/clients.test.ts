// OAuth clients as a resource: registration, responses, and rotation of secrets.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { authorizeUrl, basic, post } from "../../support/oauth.ts";
import { expectAnswer, makeTenant, scenarios, serve } from "../../support/scenario.ts";
import { onEachDatabase, portico } from "../../support/server.ts";

const path = "/v1/oauth-clients";
const machine = { name: "Nightly job", type: "confidential", scopes: ["posts:read"] };
const page = {
  name: "Planner",
  type: "public",
  scopes: ["openid", "posts:read"],
  redirectUris: ["https://app.example.com/callback"],
};
const grant = { grant_type: "client_credentials", scope: "posts:read" };

onEachDatabase("oauth clients", (database) => {
  const server = serve(database);

  test("a confidential client has a secret, which is returned once and works immediately", async () => {
    const created = await server.create(path, machine);
    assert.match(created.clientId, /^client_/);
    assert.match(created.clientSecret, /^[\w-]{43}$/);
    assert.deepEqual(
      [created.authMethod, created.grantTypes],
      ["client_secret_basic", ["client_credentials"]],
    );
    const { body } = await server.request(`${path}/${created.id}`);
    assert.equal(body.clientSecret, undefined);
    assert.doesNotMatch(JSON.stringify(body), /hash/i);
    assert.equal((await post(server, "/token", grant, basic(created))).status, 200);
  });

  test("a public client has no secret", async () => {
    const created = await server.create(path, page);
    assert.equal(created.clientSecret, undefined);
    assert.deepEqual(
      [created.authMethod, created.grantTypes],
      ["none", ["authorization_code", "refresh_token"]],
    );
  });

  test("a replaced secret works until the end of the overlap", async () => {
    const created = await server.create(path, machine);
    const rotations = `${path}/${created.id}/rotations`;
    const next = await server.create(rotations, { overlapSeconds: 2 });
    assert.notEqual(next.clientSecret, created.clientSecret);
    for (const clientSecret of [created.clientSecret, next.clientSecret])
      assert.equal((await post(server, "/token", grant, basic({ ...created, clientSecret }))).status, 200);
    await sleep(2_100);
    assert.equal((await post(server, "/token", grant, basic(created))).status, 401);
    assert.equal((await post(server, "/token", grant, basic(next))).status, 200);
    const { id } = await server.create(path, page);
    expectAnswer(await server.request(`${path}/${id}/rotations`, { method: "POST" }), { status: 409 });
  });

  test("a redirect URI is accepted if and only if a request can use it", async () => {
    for (const [uri, isUsable] of [
      ["https://app.example.com/caf%C3%A9?a=b&c=%20", true],
      ["https://xn--caf-dma.example.com/~!$'()+,;=:@[]", true],
      ["https://app.example.com/café", false],
      ["https://café.example.com/", false],
      ["https://app.example.com/a b", false],
      ["https://app.example.com/\u007f", false],
      ["https://app.example.com/\u200b", false],
      [" https://app.example.com/", false],
    ] as const) {
      const registered = await server.request(path, { body: { ...page, redirectUris: [uri] } });
      if (!isUsable)
        expectAnswer(registered, { status: 422, details: [{ field: "redirectUris", issue: "format" }] });
      const client = isUsable ? registered.body : await server.create(path, page);
      const { url } = authorizeUrl(server, client, "openid posts:read", { redirect_uri: uri });
      const { status, headers } = await fetch(url, { redirect: "manual" });
      assert.equal(status, isUsable ? 303 : 400, uri);
      if (isUsable) assert.match(headers.get("location")!, /\/interaction\//);
    }
  });

  test("a deleted client cannot authenticate", async () => {
    const created = await server.create(path, machine);
    assert.equal((await server.request(`${path}/${created.id}`, { method: "DELETE" })).status, 204);
    assert.equal((await post(server, "/token", grant, basic(created))).status, 401);
  });

  test("changes are validated like new clients, and immutable fields stay", async () => {
    const { id } = await server.create(path, page);
    const change = (body: object) => server.request(`${path}/${id}`, { method: "PATCH", body });
    expectAnswer(await change({ redirectUris: [] }), {
      status: 422,
      details: [{ field: "redirectUris", issue: "required" }],
    });
    expectAnswer(await change({ type: "confidential" }), {
      status: 422,
      details: [{ field: "type", issue: "read_only" }],
    });
    expectAnswer(await change({ name: "Calendar" }), { status: 200, body: { name: "Calendar" } });
  });

  scenarios(
    server,
    [
      ["a wildcard", { ...page, redirectUris: ["https://*.example.com/callback"] }, "redirectUris", "format"],
      ["a fragment", { ...page, redirectUris: ["https://app.example.com/#x"] }, "redirectUris", "format"],
      ["http elsewhere", { ...page, redirectUris: ["http://app.example.com/"] }, "redirectUris", "format"],
      ["javascript", { ...page, redirectUris: ["javascript:alert(1)"] }, "redirectUris", "format"],
      ["a user name", { ...page, redirectUris: ["https://a@example.com/"] }, "redirectUris", "format"],
      [
        "no redirect URI",
        { ...page, redirectUris: [], grantTypes: ["authorization_code"] },
        "redirectUris",
        "required",
      ],
      ["an unknown scope", { ...page, scopes: ["posts:fly"] }, "scopes", "choice"],
      ["no scopes", { name: "x", type: "public" }, "scopes", "required"],
      [
        "a public client with client_credentials",
        { ...page, grantTypes: ["client_credentials"] },
        "grantTypes",
        "choice",
      ],
      ["the implicit grant", { ...page, grantTypes: ["implicit"] }, "grantTypes.0", "choice"],
      [
        "a public client with a secret",
        { ...page, authMethod: "client_secret_basic" },
        "authMethod",
        "choice",
      ],
      ["a signed assertion without keys", { ...machine, authMethod: "private_key_jwt" }, "jwks", "required"],
    ].map(([fact, body, field, issue]) => ({
      fact: `${fact} is refused`,
      path,
      body,
      status: 422,
      details: [{ field: field as string, issue: issue as "choice" }],
    })),
  );

  test("a private key is refused as a public key", async () => {
    const jwks = { keys: [{ kty: "EC", crv: "P-256", x: "x", y: "y", d: "d" }] };
    expectAnswer(await server.request(path, { body: { ...machine, authMethod: "private_key_jwt", jwks } }), {
      status: 422,
    });
  });

  test("redirect URIs with http are accepted for loopback addresses", async () => {
    const redirectUris = ["http://127.0.0.1:8080/callback", "http://localhost/", "http://[::1]:9/x"];
    assert.deepEqual((await server.create(path, { ...page, redirectUris })).redirectUris, redirectUris);
  });

  test("a key cannot grant a client a scope that it lacks, and sees its tenant's clients only", async () => {
    const { id } = await server.create(path, machine);
    const { key } = await makeTenant(server.workspace, "clients:read,clients:manage");
    expectAnswer(await server.request(path, { key, body: machine }), {
      status: 403,
      code: "insufficient_scope",
    });
    expectAnswer(await server.request(`${path}/${id}`, { key }), { status: 404 });
    assert.deepEqual((await server.request(path, { key })).body.data, []);
  });

  test("client create prints its id and, once, its secret", async () => {
    const words = ["client", "create", "--name", "Job", "--type", "confidential", "--scopes", "posts:read"];
    const { stdout } = await portico(server.workspace, words);
    const [, clientId = ""] = /^clientId +(\S+)\nclientSecret (\S+)\n/.exec(stdout) ?? [];
    const { clients } = await server.command("client", "list");
    const [listed] = clients.filter((client: { clientId: string }) => client.clientId === clientId);
    assert.equal(listed.name, "Job");
    const { clientSecret } = await server.command("client", "rotate", listed.id, "--overlap", "0");
    assert.equal((await post(server, "/token", grant, basic({ ...listed, clientSecret }))).status, 200);
    await server.command("client", "delete", listed.id);
    assert.equal((await post(server, "/token", grant, basic({ ...listed, clientSecret }))).status, 401);
  });

  test("client create takes several redirect URIs", async () => {
    const uris = ["https://a.example.com/", "https://b.example.com/"];
    const options = uris.flatMap((uri) => ["--redirect-uri", uri]);
    const created = await server.command("client", "create", "--name", "Two", "--type", "public", ...options);
    assert.deepEqual(created.redirectUris, uris);
  });
});

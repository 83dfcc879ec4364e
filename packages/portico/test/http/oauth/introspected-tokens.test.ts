// Access tokens of another issuer, verified by its introspection endpoint (RFC 7662).

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { basic, makeClient, post } from "../../support/oauth.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { makeWorkspace, onEachDatabase, porticoProcess } from "../../support/server.ts";

const [clientId, clientSecret] = ["portico api", "s3cret:&+"];
const invalid = { status: 401, code: "invalid_credential" } as const;

/** Another issuer, whose introspection responses are set by the tests. */
class Issuer {
  readonly responses = new Map<string, unknown>();
  readonly requests: string[] = [];
  /** How it fails, if at all. */
  fails:
    | "with 500"
    | "with 401"
    | "with a redirect"
    | "with no JSON"
    | "with too much"
    | "not at all"
    | undefined;
  readonly #server: Server = createServer(async (request, response) => {
    const form = new URLSearchParams(await bodyOf(request));
    const token = form.get("token") ?? "";
    this.requests.push(token);
    const known = Buffer.from(request.headers.authorization?.split(" ")[1] ?? "", "base64").toString();
    const isPortico =
      known === `portico+api:${new URLSearchParams({ x: clientSecret! }).toString().slice(2)}`;
    if (this.fails === "not at all") return;
    if (this.fails === "with 500") return response.writeHead(500).end();
    if (this.fails === "with 401" || !isPortico) return response.writeHead(401).end("{}");
    if (this.fails === "with a redirect") return response.writeHead(307, { location: "/" }).end();
    if (this.fails === "with no JSON") return response.end('"yes"');
    if (this.fails === "with too much")
      return response.end(JSON.stringify({ active: true, x: "x".repeat(99_999) }));
    response.end(JSON.stringify(this.responses.get(token) ?? { active: false }));
  });

  async start(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/introspect`;
  }

  countOf(token: string): number {
    return this.requests.filter((each) => each === token).length;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}

const issuer = new Issuer();
await issuer.start();
after(() => issuer.stop());

const settings = {
  PORTICO_INTROSPECTION_URL: issuer.url,
  PORTICO_INTROSPECTION_CLIENT_ID: clientId!,
  PORTICO_INTROSPECTION_CLIENT_SECRET: clientSecret!,
};
const inAnHour = (): number => Math.floor(Date.now() / 1000) + 3_600;

onEachDatabase("tokens of another issuer", (database) => {
  const server = serve(database, { env: settings });
  let count = 0;
  /** A token with this introspection response. */
  const token = (response: object = {}): string => {
    count += 1;
    const token = `opaque-${database}-${count}`;
    const good = { active: true, token_type: "Bearer", client_id: "app", sub: "jane", scope: "posts:read" };
    issuer.responses.set(token, { ...good, exp: inAnHour(), ...response });
    return token;
  };
  const read = (key: string) => server.request("/posts", { key });
  before(() => {
    issuer.fails = undefined;
  });

  test("only a client that acts for itself can change users", async () => {
    const user = await server.create("/users", { name: "Member", email: "member@example.com" });
    const rename = (key: string) =>
      server.request(`/users/${user.id}`, { method: "PATCH", key, body: { name: user.name } });
    const scope = "users:write";
    for (const response of [{ scope }, { scope, sub: undefined }, { scope, sub: ["app"] }])
      expectAnswer(await rename(token(response)), { status: 403, code: "forbidden" });
    expectAnswer(await rename(token({ scope, sub: "app" })), { status: 200 });
  });

  test("a token gives the access of its scopes, and is introspected once in a few seconds", async () => {
    const key = token();
    for (let times = 0; times < 5; times += 1) assert.equal((await read(key)).status, 200);
    expectAnswer(await server.request("/posts", { key, body: { title: "x" } }), {
      status: 403,
      code: "insufficient_scope",
    });
    assert.equal(issuer.countOf(key), 1);
    const many = token();
    const answers = await Promise.all(Array.from({ length: 20 }, () => read(many)));
    assert.ok(answers.every(({ status }) => status === 200));
    assert.equal(issuer.countOf(many), 1);
    issuer.responses.set(key, { active: false });
    await sleep(3_200);
    expectAnswer(await read(key), invalid);
  });

  test("the scope * of another issuer is ignored: it is for API keys only", async () => {
    expectAnswer(await read(token({ scope: "*" })), { status: 403, code: "insufficient_scope" });
    const key = token({ scope: "* posts:read keys:manage", sub: "app" });
    assert.equal((await read(key)).status, 200);
    const refused = { status: 403, code: "insufficient_scope" } as const;
    expectAnswer(await server.request("/posts", { key, body: { title: "x" } }), refused);
    const named = { key, body: { name: "All", scopes: ["*"] } };
    expectAnswer(await server.request("/v1/api-keys", named), refused);
    const allowed = { key, body: { name: "One", scopes: ["posts:read"] } };
    expectAnswer(await server.request("/v1/api-keys", allowed), { status: 201 });
  });

  for (const [fact, response] of [
    ["is not active", { active: false }],
    ["has active as text", { active: "true" }],
    ["is a refresh token, which has no type", { token_type: undefined }],
    ["is of another type", { token_type: "N_A" }],
    ["has expired", { exp: 1 }],
    ["is not valid yet", { nbf: inAnHour() }],
    ["is meant for another API", { aud: "https://other.example.com" }],
    ["is meant for other APIs", { aud: ["https://a.example.com", "https://b.example.com"] }],
  ] as const) {
    test(`a token that ${fact} is refused`, async () => expectAnswer(await read(token(response)), invalid));
  }

  test("a token with this API among its audiences is accepted, whatever names it has", async () => {
    assert.equal((await read(token({ aud: ["https://a.example.com", server.url] }))).status, 200);
    assert.equal((await read(token({ aud: server.url }))).status, 200);
    const strange = { client_id: '"},{\n\ud800', sub: "é/../x".repeat(500) };
    assert.equal((await read(token(strange))).status, 200);
    assert.equal((await read(token({ client_id: 7, sub: null, scope: ["posts:read"] }))).status, 403);
  });

  test("Portico's own tokens, and anything that starts like a key, are not sent to the issuer", async () => {
    const machine = await makeClient(server, "--type", "confidential", "--scopes", "posts:read");
    const fields = { grant_type: "client_credentials", scope: "posts:read" };
    const { body } = await post(server, "/token", fields, basic(machine));
    const { length } = issuer.requests;
    assert.equal((await read(body.access_token)).status, 200);
    const forged = `${body.access_token.slice(0, -4)}AAAA`;
    const truncated = server.portico.key.slice(0, -3);
    for (const key of [forged, truncated, `${server.portico.key}x`, "sk_live_x", "a b", "x".repeat(9_000)])
      expectAnswer(await read(key), { status: 401 });
    assert.equal(issuer.requests.length, length);
    assert.equal((await read(server.portico.key)).status, 200);
  });

  test("a JSON Web Token of another issuer is introspected as well", async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const jwt = `${part({ alg: "ES256" })}.${part({ iss: "https://id.example.com", n: database })}.AAAA`;
    expectAnswer(await read(jwt), invalid);
    const other = `${jwt}A`;
    issuer.responses.set(other, { active: true, token_type: "bearer", scope: "posts:read" });
    assert.equal((await read(other)).status, 200);
  });

  for (const fails of [
    "with 500",
    "with 401",
    "with a redirect",
    "with no JSON",
    "with too much",
    "not at all",
  ] as const) {
    test(`while the issuer responds ${fails}, tokens are refused, and afterwards introspected again`, async () => {
      const key = token();
      issuer.fails = fails;
      const closed = await read(key);
      issuer.fails = undefined;
      expectAnswer(closed, { status: 503, code: "unavailable", headers: { "retry-after": /^\d+$/ } });
      assert.equal((await read(key)).status, 200);
    });
  }

  test("while the issuer fails, one warning is logged until it responds again", async () => {
    const { portico } = server;
    // Log lines of earlier tests may be written late.
    await sleep(1_000);
    const before = portico.output.length;
    issuer.fails = "with 500";
    const answers = await Promise.all(Array.from({ length: 5 }, () => read(token())));
    issuer.fails = undefined;
    for (const { status } of answers) assert.equal(status, 503);
    assert.equal((await read(token())).status, 200);
    const warning = /token introspection at the other issuer fails/g;
    for (let tries = 0; tries < 50 && !warning.test(portico.output.slice(before)); tries += 1)
      await sleep(50);
    const logged = portico.output.slice(before);
    assert.equal(logged.match(warning)?.length, 1, logged);
    assert.doesNotMatch(logged, /request failed/);
  });
});

describe("an invalid introspection setting stops the start", () => {
  for (const [fact, env, message] of [
    ["no URL", { PORTICO_INTROSPECTION_URL: "id.example.com" }, /PORTICO_INTROSPECTION_URL must be/],
    ["no secret", { PORTICO_INTROSPECTION_CLIENT_SECRET: "" }, /needs PORTICO_INTROSPECTION_CLIENT_ID and/],
    [
      "a secret in the URL",
      { PORTICO_INTROSPECTION_URL: "https://a:hidden@id.example.com" },
      /without a user name/,
    ],
  ] as const) {
    test(fact, async () => {
      const workspace = await makeWorkspace("sqlite");
      try {
        const { code, stderr } = await porticoProcess(workspace, ["serve"], {
          env: { PORT: "0", ...settings, ...env },
        });
        assert.equal(code, 1);
        assert.match(stderr, message);
        assert.doesNotMatch(stderr, /hidden|s3cret/);
      } finally {
        await workspace.remove();
      }
    });
  }
});

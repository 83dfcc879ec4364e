// Who may connect: credentials, OAuth as the specification of MCP asks, origins, and revocation in the middle.

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { Browser } from "../../support/browser.ts";
import { makeKey } from "../../support/keys.ts";
import { call, connect, failure, post } from "../../support/mcp.ts";
import { callback, makePublicClient, makeUser, signInAndAllow } from "../../support/oauth.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

/** What an assistant keeps of its authorization. */
class Assistant implements OAuthClientProvider {
  readonly redirectUrl = callback;
  readonly clientMetadata = { redirect_uris: [callback] };
  readonly #clientId: string;
  authorizationUrl: URL | undefined;
  #verifier = "";
  #tokens: OAuthTokens | undefined;
  #discovered: OAuthDiscoveryState | undefined;

  constructor(clientId: string) {
    this.#clientId = clientId;
  }

  clientInformation = () => ({ client_id: this.#clientId });
  tokens = () => this.#tokens;
  codeVerifier = () => this.#verifier;
  discoveryState = () => this.#discovered;

  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url;
  }
}

onEachDatabase("authorization of MCP", (database) => {
  const server = serve(database, { env: { PORTICO_CORS_ORIGINS: "https://app.example.com" } });
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };

  test("an assistant finds the authorization server, a person signs in, and it acts within their grant", async () => {
    const user = await makeUser(server, "hopper@example.com");
    const { clientId } = await makePublicClient(server, "posts:read,comments:read");
    const provider = new Assistant(clientId);
    const transport = () =>
      new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { authProvider: provider });
    const refused = transport();
    await rejects(new Client({ name: "test", version: "1" }).connect(refused), UnauthorizedError);
    equal(provider.authorizationUrl!.searchParams.get("resource"), `${server.url}/mcp`);
    const redirect = await signInAndAllow(new Browser(), provider.authorizationUrl!.href, user);
    await refused.finishAuth(
      redirect.searchParams.get("code")!,
      redirect.searchParams.get("iss") ?? undefined,
    );
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport());
    const { tools } = await client.listTools();
    deepEqual(
      tools.map(({ name }) => name),
      ["list_posts", "get_post", "list_comments", "get_comment", "get_me"],
    );
    const me = await call(client, "get_me");
    deepEqual([me.kind, me.user.id], ["user", user.id]);
    ok((await call(client, "list_posts")).data);
    equal((await failure(client, "create_post", { title: "No" })).code, "insufficient_scope");
    // The token is one of the API, and REST accepts it.
    const rest = await server.request("/posts", { key: provider.tokens()!.access_token });
    equal(rest.status, 200);
    await client.close();
  });

  test("without a valid credential, a challenge names the metadata of the endpoint", async () => {
    for (const headers of [
      {},
      { Authorization: "Bearer nothing" },
      { "X-API-Key": "sk_test_nothing" },
    ] as Record<string, string>[]) {
      const response = await post(server, ping, headers);
      equal(response.status, 401);
      const metadataUrl = `${server.url}/.well-known/oauth-protected-resource/mcp`;
      ok(response.headers.get("www-authenticate")!.includes(`resource_metadata="${metadataUrl}"`));
      ok(((await response.json()) as { error: { code: string } }).error.code);
    }
    const { body } = await server.request("/.well-known/oauth-protected-resource/mcp", { key: null });
    deepEqual([body.resource, body.authorization_servers], [`${server.url}/mcp`, [`${server.url}/oauth`]]);
    ok(body.scopes_supported.includes("posts:write"));
    ok(!body.scopes_supported.includes("keys:manage"));
    const rest = await server.request("/posts", { key: null });
    ok(rest.headers.get("www-authenticate")!.endsWith(`oauth-protected-resource"`));
  });

  test("a page of another origin cannot connect", async () => {
    const status = async (origin: string): Promise<number> =>
      (await post(server, ping, { Origin: origin, Authorization: `Bearer ${server.portico.key}` })).status;
    for (const origin of [server.url, "https://app.example.com"]) equal(await status(origin), 200);
    for (const origin of ["https://evil.example", "null", `${server.url}.evil.example`, "http://localhost:1"])
      equal(await status(origin), 403);
    // Whatever the credential is, and without one.
    for (const credential of [{}, { Authorization: "Bearer nothing" }] as Record<string, string>[])
      equal((await post(server, ping, { Origin: "https://evil.example", ...credential })).status, 403);
  });

  test("a revoked key ends at the next request, and a call takes tokens of its quota", async () => {
    const rateLimit = { limit: 3, windowSeconds: 3600 };
    const { id, key } = await makeKey(server, { scopes: ["posts:read"], rateLimit });
    const limited = { Authorization: `Bearer ${key}` };
    const list = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_posts" } };
    for (const remaining of ["2", "1", "0"]) {
      const response = await post(server, list, limited);
      match(response.headers.get("ratelimit")!, new RegExp(`r=${remaining};`));
      ok(((await response.json()) as { result: { isError?: boolean } }).result.isError === undefined);
    }
    const spent = (await (await post(server, list, limited)).json()) as {
      result: {
        isError: boolean;
        structuredContent: { error: { code: string } };
        content: { text: string }[];
      };
    };
    deepEqual([spent.result.isError, spent.result.structuredContent.error.code], [true, "rate_limited"]);
    match(spent.result.content[1]!.text, /^Wait \d+ seconds/);
    const refused = await post(server, ping, limited);
    deepEqual([refused.status, refused.headers.has("retry-after")], [429, true]);

    const other = await makeKey(server, { scopes: ["posts:read"] });
    const client = await connect(server, other.key);
    ok((await call(client, "list_posts")).data);
    equal((await server.request(`/v1/api-keys/${other.id}`, { method: "DELETE" })).status, 204);
    await rejects(client.callTool({ name: "list_posts" }));
    ok(id);
  });
});

// Clients with a jwksUri: when it is requested, and when it is not.

import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { type CreatedClient, makeClient, post, refused } from "../../support/oauth.ts";
import { expectAnswer, runCommand, serve, type TestServer } from "../../support/scenario.ts";
import { makeWorkspace, onEachDatabase, Portico, portico, type Workspace } from "../../support/server.ts";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const keySet = JSON.stringify({
  keys: [{ ...publicKey.export({ format: "jwk" }), kid: "one", alg: "ES256" }],
});
const words = ["--type", "confidential", "--scopes", "posts:read", "--auth-method", "private_key_jwt"];

/** A server of key sets that counts its requests. */
class KeySetServer {
  readonly requests: string[] = [];
  connections = 0;
  readonly #server: Server;

  constructor(answer: RequestListener) {
    this.#server = createServer((request, response) => {
      this.requests.push(request.url!);
      answer(request, response);
    });
    this.#server.on("connection", () => {
      this.connections += 1;
    });
  }

  async start(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  countOf(path: string): number {
    return this.requests.filter((each) => each === path).length;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const keySets = new KeySetServer(({ url }, response) => {
  if (url === "/large") return response.end(`${keySet}${" ".repeat(100_000)}`);
  if (url === "/moved") return response.writeHead(302, { location: "/keys" }).end();
  if (url === "/missing") return response.writeHead(404).end();
  if (url === "/text") return response.end("no JSON");
  // Never ends.
  if (url === "/slow") return response.write("{");
  response.end(keySet);
});
before(() => keySets.start());
after(() => keySets.stop());

function assertionOf(
  { clientId }: CreatedClient,
  issuer: string,
  kid = "one",
  key: KeyObject = privateKey,
): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: clientId, sub: clientId, aud: issuer, iat: now, exp: now + 60, jti: randomUUID() };
  const signed = [{ alg: "ES256", kid }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}

const tokenOf = (server: Pick<TestServer, "url">, client: CreatedClient, kid?: string, key?: KeyObject) =>
  post(server, "/token", {
    grant_type: "client_credentials",
    scope: "posts:read",
    client_id: client.clientId,
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: assertionOf(client, `${server.url}/oauth`, kid, key),
  });

onEachDatabase("key sets of clients", (database) => {
  const server = serve(database);
  const clientAt = (path: string): Promise<CreatedClient> =>
    makeClient(server, ...words, "--jwks-uri", keySets.url + path);

  test("a service authenticates with a key of its jwksUri, which is requested once", async () => {
    const path = `/keys/${database}`;
    const machine = await clientAt(path);
    for (let times = 0; times < 5; times += 1) {
      const { status, body, text } = await tokenOf(server, machine);
      assert.equal(status, 200, text);
      assert.equal((await server.request("/posts", { key: body.access_token })).status, 200);
    }
    assert.equal(keySets.countOf(path), 1);
  });

  test("unknown key ids do not cause repeated requests", async () => {
    const path = `/unknown/${database}`;
    const machine = await clientAt(path);
    for (const kid of ["two", "three", "four"])
      refused(await tokenOf(server, machine, kid), "invalid_client", 401);
    const { privateKey: another } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    refused(await tokenOf(server, machine, "one", another), "invalid_client", 401);
    assert.ok(keySets.countOf(path) <= 1);
  });

  for (const path of ["/large", "/moved", "/missing", "/text", "/slow"]) {
    test(`the response of ${path} is not a key set, and is not requested again at once`, async () => {
      const before = keySets.countOf(path);
      const machine = await clientAt(path);
      for (let times = 0; times < 3; times += 1)
        refused(await tokenOf(server, machine), "invalid_client", 401);
      assert.ok(keySets.countOf(path) - before <= (path === "/text" ? 3 : 1));
    });
  }

  test("an invalid jwksUri is refused when the client is created", async () => {
    const body = { name: "x", type: "confidential", scopes: ["posts:read"] };
    for (const [jwksUri, issue] of [
      ["http://example.com/keys", "format"],
      ["ftp://example.com/keys", "format"],
      ["https://user:word@example.com/", "format"],
      ["keys", "format"],
      ["", "min"],
    ])
      expectAnswer(await server.request("/v1/oauth-clients", { body: { ...body, jwksUri } }), {
        status: 422,
        details: [{ field: "jwksUri", issue: issue as "format" }],
      });
    const both = { jwksUri: "https://example.com/keys", jwks: JSON.parse(keySet) };
    expectAnswer(await server.request("/v1/oauth-clients", { body: { ...body, ...both } }), {
      status: 422,
      details: [{ field: "jwksUri", issue: "choice" }],
    });
    const created = await server.create("/v1/oauth-clients", {
      ...body,
      jwksUri: "https://example.com/keys",
    });
    assert.deepEqual([created.authMethod, created.jwksUri], ["private_key_jwt", "https://example.com/keys"]);
  });
});

describe("key sets of clients, live", () => {
  const env = { PORTICO_MODE: "live", PORTICO_SECRET: "s".repeat(32) };
  let workspace: Workspace;
  let server: Portico;
  before(async () => {
    workspace = await makeWorkspace("sqlite");
    assert.equal((await portico(workspace, ["migrate"], { env })).code, 0);
    await runCommand(workspace, ["tenant", "create", "--name", "Live"], { env });
    server = await Portico.start(workspace, { env });
  });
  after(async () => {
    await server?.stop();
    await workspace?.remove();
  });

  test("a client with jwks works", async () => {
    const call = ["client", "create", "--name", "Live", ...words, "--jwks", keySet];
    assert.equal((await tokenOf(server, await runCommand(workspace, call, { env }))).status, 200);
  });

  for (const host of ["127.0.0.1", "localhost", "[::1]"]) {
    test(`nothing is sent to ${host}`, async () => {
      const { connections } = keySets;
      const uri = keySets.url.replace("127.0.0.1", host);
      for (const address of [`${uri}/live`, `${uri.replace("http:", "https:")}/live`]) {
        const call = ["client", "create", "--name", "Live", ...words, "--jwks-uri", address];
        refused(await tokenOf(server, await runCommand(workspace, call, { env })), "invalid_client", 401);
      }
      assert.equal(keySets.connections, connections);
    });
  }
});

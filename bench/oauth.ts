// Starts the bare oidc-provider of bare-oidc.ts, and creates a client at Portico that requests tokens from both.

import { join } from "node:path";
import { type ChildServer, startServer, stopChild } from "./child.ts";
import { keyHeader, type Load } from "./load.ts";
import { tokenPath } from "./token-path.ts";

export interface Client {
  readonly clientId: string;
  readonly clientSecret: string;
}

const program = join(import.meta.dirname, "bare-oidc.ts");
const timeoutMs = 10_000;

/** The limit for token requests. */
export class BareOidcServer {
  readonly #server: ChildServer;

  private constructor(server: ChildServer) {
    this.#server = server;
  }

  static async start({ clientId, clientSecret }: Client): Promise<BareOidcServer> {
    return new BareOidcServer(await startServer(program, [clientId, clientSecret]));
  }

  get url(): string {
    return this.#server.url;
  }

  /** Does nothing: the provider issues tokens of its own. */
  async respondWith(): Promise<void> {}

  async stop(): Promise<void> {
    await stopChild(this.#server.child);
  }
}

export async function createClient(url: string, key: string): Promise<Client> {
  const body = {
    ...{ name: "Bench", type: "confidential" },
    ...{ grantTypes: ["client_credentials"], scopes: ["posts:read"] },
  };
  const response = await fetch(`${url}/v1/oauth-clients`, {
    method: "POST",
    headers: { ...keyHeader(key), "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (response.status !== 201) throw new Error(`the client was not created: ${await response.text()}`);
  return (await response.json()) as Client;
}

/** RFC 6749, section 4.4 */
export function tokenLoad({ clientId, clientSecret }: Client): Load {
  const credentials = Buffer.from(`${clientId}:${clientSecret}`).toString("base64");
  return {
    ...{ status: 200, method: "POST", paths: [tokenPath] },
    headers: {
      Authorization: `Basic ${credentials}`,
      "Content-Type": "application/x-www-form-urlencoded",
    },
    body: "grant_type=client_credentials&scope=posts%3Aread",
  };
}

export async function accessToken(url: string, client: Client): Promise<string> {
  const { method, headers, body } = tokenLoad(client);
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url + tokenPath, { method, headers: { ...headers }, body, signal });
  const { access_token: token } = (await response.json()) as { access_token?: string };
  if (token === undefined) throw new Error(`no token was issued: status ${response.status}`);
  return token;
}

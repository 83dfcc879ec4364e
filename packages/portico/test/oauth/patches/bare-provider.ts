// oidc-provider without Portico's patches, with records in memory: its behaviour is the reason for each patch.

import { generateKeyPairSync } from "node:crypto";
import { type EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type Provider from "oidc-provider";
import type { Adapter, AdapterPayload, Configuration } from "oidc-provider";
import { type Library, loadLibrary } from "../../../src/oauth/provider/library.ts";

export const resource = "https://api.example.com";
export const redirectUri = "https://app.example.com/callback";

const confidential = {
  token_endpoint_auth_method: "client_secret_basic",
  client_secret: "correct",
  redirect_uris: [redirectUri],
  grant_types: ["authorization_code", "refresh_token", "client_credentials"],
  response_types: ["code"],
  scope: "openid offline_access posts:read",
} as const;

/** A client that may use the device flow only. */
const device = {
  token_endpoint_auth_method: "none",
  redirect_uris: [],
  response_types: [],
  grant_types: ["urn:ietf:params:oauth:grant-type:device_code"],
} as const;

export class BareProvider {
  readonly records = new Map<string, AdapterPayload>();
  /** Set by a test to make the adapter fail. */
  failure: Error | undefined;
  library!: Library;
  provider!: Provider;
  url!: string;
  readonly #server = createServer();

  async start(configuration: Configuration): Promise<void> {
    this.library = await loadLibrary();
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.provider = new this.library.Provider(this.url, {
      adapter: (model) => this.#adapter(model),
      clients: [{ client_id: "app", ...confidential } as never, { client_id: "tv", ...device } as never],
      clientDefaults: { id_token_signed_response_alg: "ES256" },
      cookies: { keys: ["test"] },
      findAccount: async (_context, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
      jwks: { keys: [privateKey.export({ format: "jwk" }) as never] },
      pkce: { required: () => false },
      scopes: ["openid", "offline_access", "posts:read"],
      ...configuration,
      features: {
        ...configuration.features,
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        introspection: { enabled: true, allowedPolicy: async () => true },
        revocation: { enabled: true },
        deviceFlow: { enabled: true, ...configuration.features?.deviceFlow },
        // The types require every option of a feature.
      } as Configuration["features"] & object,
    });
    // Koa writes errors to the console if there is no listener.
    (this.provider as EventEmitter).on("error", () => {});
    const handle = this.provider.callback();
    this.#server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      void handle(request, response);
    });
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<BareResponse> {
    return responseOf(await fetch(this.url + path, { headers: { ...headers }, redirect: "manual" }));
  }

  /** @param secret of the client `app`; undefined for a request without client authentication */
  async post(
    path: string,
    fields: Readonly<Record<string, string>>,
    secret?: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<BareResponse> {
    const authorization = secret && { authorization: `Basic ${btoa(`app:${secret}`)}` };
    const body = new URLSearchParams(fields);
    const options = { method: "POST", body, headers: { ...authorization, ...headers } };
    return responseOf(await fetch(this.url + path, { ...options, redirect: "manual" }));
  }

  #adapter(model: string): Adapter {
    const name = (id: string): string => `${model} ${id}`;
    const find = async (isOne: (payload: AdapterPayload, id: string) => boolean) => {
      if (this.failure) throw this.failure;
      await nextTurn();
      return [...this.records].find(([id, payload]) => id.startsWith(`${model} `) && isOne(payload, id))?.[1];
    };
    return {
      upsert: async (id, payload) => void this.records.set(name(id), payload),
      find: (id) => find((_, each) => each === name(id)),
      findByUid: (uid) => find((payload) => payload.uid === uid),
      findByUserCode: (userCode) => find((payload) => payload.userCode === userCode),
      consume: async (id) => {
        await nextTurn();
        this.records.set(name(id), { ...this.records.get(name(id)), consumed: 1 });
      },
      destroy: async (id) => void this.records.delete(name(id)),
      revokeByGrantId: async () => {},
    };
  }
}

export interface BareResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a response of any shape
  readonly body: any;
}

async function responseOf(response: Response): Promise<BareResponse> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json");
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
  };
}

/** One provider for all tests of the calling suite. */
export function bareProvider(configuration: Configuration = {}): BareProvider {
  const bare = new BareProvider();
  before(() => bare.start(configuration));
  after(() => bare.stop());
  return bare;
}

/** Access tokens as JWTs for one API, as Portico issues them. */
export const jwtAccessTokens: Configuration = {
  features: {
    resourceIndicators: {
      enabled: true,
      defaultResource: async () => resource,
      useGrantedResource: async () => true,
      getResourceServerInfo: async () => ({
        scope: "openid posts:read",
        audience: resource,
        accessTokenFormat: "jwt",
        jwt: { sign: { alg: "ES256" } },
      }),
    },
  },
};

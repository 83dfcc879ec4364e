// `portico/client`: a typed client of an API, for browsers and Node, without dependencies.

import type { App } from "../src/declare/app.ts";
import type { Api } from "./api.ts";
import type { ApiOf } from "./app-types.ts";
import { readBody, readObject } from "./body.ts";
import type { ClientOf } from "./client-types.ts";
import { byName, collection, idSegment } from "./collection.ts";
import { queryString } from "./query.ts";
import { type AnySubscribeOptions, subscribe } from "./subscription.ts";
import { type RequestOptions, Transport, type TransportOptions } from "./transport.ts";

export type { Api, ResourceTypes, ShownFile } from "./api.ts";
export type { ApiOf } from "./app-types.ts";
export type { ImportResult, Me, Page } from "./client-types.ts";
export { type ErrorDetail, PorticoError } from "./error.ts";
export type { Event, LoggedEvent } from "./event-types.ts";
export type { Credential, RequestOptions } from "./transport.ts";

/** The options of a client. Only an API whose version is not `v1` needs `version`. */
export type ClientOptions<Version extends string = string> = TransportOptions &
  ("v1" extends Version ? { readonly version?: Version } : { readonly version: Version });

/** A client of an app, `Client<typeof app>`, or of an API that `portico types` described. */
export type Client<T extends App | Api> = ClientOf<ApiOf<T>>;

interface AnyRequest extends RequestOptions {
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly input?: unknown;
}

/**
 * A client of an API. Its type is inferred from the declarations, `createClient<typeof app>`; their code is not loaded.
 * Nothing is sent before the first call. Calls reject with a `PorticoError`; an aborted one rejects with the reason of
 * its `signal`.
 *
 * @param options `baseUrl` is the address without a version; `timeoutMs` is the time of one attempt, by default 30,000
 * @example
 * import type app from "../api/portico.config.ts";
 *
 * const client = createClient<typeof app>({ baseUrl: "https://api.example.com", credential: key });
 * const { data } = await client.posts.list({ status: "draft", sort: "-createdAt" });
 */
export function createClient<T extends App | Api>(options: ClientOptions<ApiOf<T>["version"]>): Client<T> {
  const transport = new Transport(options);
  const version: string = options.version ?? "v1";
  const methods: Readonly<Record<string, unknown>> = {
    me: (options?: RequestOptions) =>
      transport.send({ method: "GET", path: `/${version}/me`, read: readObject }, options),
    request: (route: string, { parameters = {}, query, input, ...others }: AnyRequest = {}) => {
      const [method = "", path = ""] = route.split(" ");
      const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
        idSegment(String(parameters[name] ?? "")),
      );
      return transport.send(
        { method, path: filled + queryString(query), body: input, read: readBody },
        others,
      );
    },
    subscribe: (type: string, options?: AnySubscribeOptions) => subscribe(transport, type, options),
  };
  // The types describe what the names mean.
  return byName((name) =>
    Object.hasOwn(methods, name) ? methods[name] : collection(transport, version, "", name),
  ) as Client<T>;
}

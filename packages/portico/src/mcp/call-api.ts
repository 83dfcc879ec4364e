// Sends a request of a tool to the API of this server, with the credential of the caller: it passes the same checks, quota
// and log as any other.

import { Problem } from "../errors.ts";
import type { ApiRequest } from "./tool-request.ts";

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined if it is larger than the bound. */
  readonly text: string | undefined;
}

/** @throws Problem `unavailable` if the server refuses the connection */
export type CallApi = (request: ApiRequest) => Promise<ApiAnswer>;

/** The request that contains the calls. */
export interface CallContext {
  /** The headers with the credential and the id of the request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The network address of the client. */
  readonly address: string;
  readonly signal: AbortSignal;
}

/** @param fetch sends a request to this server */
export async function callApi(
  fetch: (request: Request, address: string) => Promise<Response>,
  { headers, address, signal }: CallContext,
  { method, target, headers: more, body }: ApiRequest,
  maxBytes: number,
): Promise<ApiAnswer> {
  // The server does not use the host.
  const request = new Request(`http://localhost${target}`, {
    ...{ method, signal },
    headers: {
      ...{ accept: "application/json", ...headers, ...more },
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: jsonOf(body) }),
  });
  try {
    const response = await fetch(request, address);
    return {
      status: response.status,
      headers: response.headers,
      text: await boundedText(response, maxBytes),
    };
  } catch (cause) {
    signal.throwIfAborted();
    throw new Problem("unavailable", undefined, [], {}, cause);
  }
}

/** Of ECMAScript 2026, which TypeScript does not know yet. */
const { rawJSON } = JSON as typeof JSON & { readonly rawJSON: (text: string) => object };

/** The body as the caller sent it: `1e999` stays too large, instead of becoming null, which would remove a value. */
function jsonOf(body: unknown): string {
  return JSON.stringify(body, (_, value: unknown) =>
    value === Infinity || value === -Infinity ? rawJSON(`${Math.sign(value)}e999`) : value,
  );
}

async function boundedText({ body }: Response, maxBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    // Leaving the loop cancels the rest.
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

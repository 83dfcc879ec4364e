// The routes that a module adds to the HTTP server, and the context for them.

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Caller } from "../declare/caller.ts";
import type { PresentedHeaders } from "../lib/presented-headers.ts";
import type { ClientAddressReader } from "../net/client-address.ts";
import type { InProcessRequests } from "./in-process-requests.ts";
import type { ReceivedBytes } from "./received-bytes.ts";
import type { RequestQuotas } from "./request-quotas.ts";
import type { RequestTimeouts } from "./request-timeouts.ts";

export interface HttpModule {
  /** First segments of the paths at which it may register routes. */
  readonly paths: readonly string[];
  /** Whether its routes are the operations of the model. They may have any path. */
  readonly servesOperations?: boolean;
  /** Registers routes that need no credential of the API. */
  registerOpen?(server: FastifyInstance, context: HttpContext): void | Promise<void>;
  /** Registers routes of the API. Every request to them is authenticated. */
  register?(routes: FastifyInstance, context: HttpContext): void | Promise<void>;
}

export interface HttpContext {
  /** The path of the public URL, prepended to every link: `/api`; empty at the root. */
  readonly basePath: string;
  readonly quotas: RequestQuotas;
  /** Memory for bodies and messages that are being received. */
  readonly received: ReceivedBytes;
  /** The time limit for receiving a request. */
  readonly requestTimeouts: Pick<RequestTimeouts, "exempt">;
  /** The client's IP address. */
  readonly addressOf: ClientAddressReader;
  /** @throws Problem `authentication_required` on a route that is open */
  readonly callerOf: (request: FastifyRequest) => Caller;
  /** Sends requests to this server. */
  readonly inProcess: Pick<InProcessRequests, "fetch">;
  /**
   * Authenticates a connection.
   *
   * @param resourcePath the path of the protected resource below the public URL; by default the API as a whole
   * @throws Problem
   */
  readonly authenticate: (
    presented: PresentedHeaders,
    address: string,
    resourcePath?: string,
  ) => Promise<Caller>;
  /** Authenticates the credential of an open connection again. @throws Problem */
  readonly verify: (presented: PresentedHeaders) => Promise<Caller>;
}

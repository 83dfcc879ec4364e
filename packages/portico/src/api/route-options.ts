// What the routes of all protocols share.

import type { FastifyRequest } from "fastify";
import type { Caller } from "../declare/caller.ts";
import type { Engine } from "../engine/engine.ts";

export interface RouteOptions {
  /** What paths in responses begin with if the server is reached under a path: `/api`. */
  readonly basePath: string;
  /** The caller of an authenticated request. */
  readonly callerOf: (request: FastifyRequest) => Caller;
}

/** The options of protocols that serve resources. */
export interface ResourceRouteOptions extends RouteOptions {
  readonly engine: Engine;
  readonly chargeResponse: ChargeResponse;
}

/** Charges a caller's quota for the size of a response, even if fewer tokens are left. */
export type ChargeResponse = (caller: Caller, tokens: number, setHeaders: SetQuotaHeaders) => Promise<void>;

/** Charges the cost of an operation on top of the one token every request takes. @throws Problem `rate_limited` */
export type TakeTokens = (caller: Caller, tokens: number, setHeaders: SetQuotaHeaders) => Promise<void>;

/** Sets the response headers for the remaining quota. */
export type SetQuotaHeaders = (headers: Readonly<Record<string, string>>) => void;

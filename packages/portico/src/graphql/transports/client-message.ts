// The messages that clients send in the protocol graphql-transport-ws, and the codes that close a connection
// (https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md). Every member is validated here, once.

import type { PresentedHeaders } from "../../lib/presented-headers.ts";
import { type GraphqlRequest, requestOfBody, requireBoundedJson } from "../document/request.ts";

/** Close codes: those of the protocol, and `restarting` and `tryAgain` of RFC 6455. */
export const closeCodes = {
  badRequest: 4400,
  unauthorized: 4401,
  forbidden: 4403,
  wrongProtocol: 4406,
  noInitialisation: 4408,
  duplicate: 4409,
  tooSlow: 4413,
  initialisedTwice: 4429,
  internalError: 4500,
  restarting: 1012,
  tryAgain: 1013,
} as const;

const maxIdLength = 200;
/** The limit for the headers of a request, which is where credentials are otherwise sent. */
const maxAuthorization = 16 * 1024;
/** The characters of a header (RFC 9110, section 5.5). */
const headerText = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A validated message of a client. */
export type ClientMessage =
  | { readonly type: "connection_init"; readonly authorization: string | undefined }
  | { readonly type: "ping"; readonly payload: object | undefined }
  | { readonly type: "pong" }
  | { readonly type: "subscribe"; readonly id: string; readonly request: GraphqlRequest }
  | { readonly type: "complete"; readonly id: string };

/** A violation of the protocol, which closes the connection. */
export class ProtocolError extends Error {
  readonly code: keyof typeof closeCodes;

  constructor(code: keyof typeof closeCodes, message: string) {
    super(message);
    this.code = code;
  }
}

/** @throws ProtocolError if the text is not a message of the protocol */
export function parseMessage(text: string): ClientMessage {
  const { type, id, payload } = objectOf(parseJson(text));
  switch (type) {
    case "connection_init":
      return { type, authorization: authorizationOf(optionalObjectOf(payload)) };
    case "ping":
      return { type, payload: bounded(optionalObjectOf(payload)) };
    case "pong":
      optionalObjectOf(payload);
      return { type };
    case "subscribe":
      return { type, id: operationId(id), request: requestOfPayload(payload) };
    case "complete":
      return { type, id: operationId(id) };
    default:
      throw invalidMessage();
  }
}

/** The credential of `connection_init`: `{"authorization": "Bearer sk_test_..."}`. */
export function presentedCredential(authorization: string): PresentedHeaders {
  return { headers: { authorization }, rawHeaders: [] };
}

export function invalidMessage(): ProtocolError {
  return new ProtocolError("badRequest", "Invalid message received");
}

type Members = Readonly<Record<string, unknown>>;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidMessage();
  }
}

function objectOf(value: unknown): Members {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Members;
  throw invalidMessage();
}

/** Some clients send null instead of omitting the payload. */
function optionalObjectOf(value: unknown): Members | undefined {
  return value === undefined || value === null ? undefined : objectOf(value);
}

function authorizationOf(payload: Members = {}): string | undefined {
  const [authorization, duplicate] = Object.entries(payload).filter(
    ([name]) => name.toLowerCase() === "authorization",
  );
  if (!authorization) return undefined;
  const [, value] = authorization;
  if (duplicate || typeof value !== "string" || value.length > maxAuthorization) throw invalidMessage();
  if (headerText.test(value)) return value;
  throw invalidMessage();
}

function operationId(id: unknown): string {
  if (typeof id === "string" && id !== "" && id.length <= maxIdLength) return id;
  throw invalidMessage();
}

function requestOfPayload(payload: unknown): GraphqlRequest {
  try {
    return requestOfBody(payload);
  } catch {
    throw invalidMessage();
  }
}

function bounded(payload: Members | undefined): Members | undefined {
  try {
    requireBoundedJson("payload", payload);
    return payload;
  } catch {
    throw invalidMessage();
  }
}

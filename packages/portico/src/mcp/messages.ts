// Checks and counts the messages of a request (JSON-RPC 2.0, section 6) before the SDK handles them.

import { Problem } from "../errors.ts";

/** Messages in one request. Versions of the protocol before 2025-06-18 have such batches. */
const maxMessages = 20;
/** A message contains the arguments of a tool, which become a body. The API allows 32 levels for a body. */
const maxDepth = 36;

/** These call the API, which counts them. */
const callingMethods: readonly unknown[] = ["tools/call", "resources/read"];

/** Versions of the protocol that have batches; clients of the first two do not name theirs. */
const batchVersions: readonly unknown[] = [undefined, "2024-10-07", "2024-11-05", "2025-03-26"];

/**
 * @param version of the protocol, as the request names it
 * @returns Problem `malformed_request` for more than the server handles
 */
export function boundsProblem(body: unknown, version: unknown): Problem | undefined {
  if (Array.isArray(body) && !batchVersions.includes(version))
    return new Problem("malformed_request", "This version of the protocol has no batches.");
  const messages = messagesOf(body);
  if (messages.length > maxMessages)
    return new Problem("malformed_request", `A request has at most ${maxMessages} messages.`);
  if (isDeeperThan(maxDepth, body))
    return new Problem("malformed_request", `The body is nested more than ${maxDepth} levels deep.`);
  const ids = messages.map((each) => memberOf(each, "id")).filter((id) => id !== undefined);
  // The answers could not be told apart.
  if (new Set(ids).size < ids.length)
    return new Problem("malformed_request", "Two messages of the request have the same id.");
  return undefined;
}

/** How many messages ask for a call of the API, which counts it. */
export function requestedCalls(body: unknown): number {
  return messagesOf(body).filter((each) => callingMethods.includes(memberOf(each, "method"))).length;
}

/** How many messages cost a token here, because they do not call the API; an empty batch is one. */
export function ownMessages(body: unknown): number {
  return Math.max(messagesOf(body).length, 1) - requestedCalls(body);
}

/** The ids of JSON-RPC requests. */
export type RequestId = string | number;

/** The id of a request to listen to changes, which needs a stream; undefined for other messages. */
export function listenRequestId(body: unknown): RequestId | undefined {
  return memberOf(body, "method") === "subscriptions/listen" ? requestId(body) : undefined;
}

/** A request to begin, and its parameters; undefined for other messages. */
export function initialization(
  body: unknown,
): { readonly id: RequestId; readonly params: unknown } | undefined {
  const message = messagesOf(body).find((each) => memberOf(each, "method") === "initialize");
  const id = requestId(message);
  return id === undefined ? undefined : { id, params: memberOf(message, "params") };
}

function requestId(message: unknown): RequestId | undefined {
  const id = memberOf(message, "id");
  const isValid = typeof id === "string" || Number.isSafeInteger(id);
  return isValid && memberOf(message, "jsonrpc") === "2.0" ? (id as RequestId) : undefined;
}

function messagesOf(body: unknown): readonly unknown[] {
  return Array.isArray(body) ? body : [body];
}

function memberOf(message: unknown, name: string): unknown {
  if (typeof message !== "object" || message === null) return undefined;
  return (message as Readonly<Record<string, unknown>>)[name];
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(levels - 1, inner));
}

// What clients say in the protocol graphql-transport-ws, and what they are closed with
// (https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md).

import type { Presented } from "./open-credentials.ts";
import { type GraphqlRequest, requestOfBody } from "./request.ts";

/** What a connection is closed with; clients know the first ones from the protocol. */
export const closes = {
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

/** Longer names of operations are of no use. */
const longestId = 200;

/** A message of a client. */
export type ClientMessage = Readonly<Record<string, unknown>>;

/** What the protocol closes a connection for. */
export class Fault extends Error {
  readonly why: keyof typeof closes;

  constructor(why: keyof typeof closes, message: string) {
    super(message);
    this.why = why;
  }
}

export function invalidMessage(): Fault {
  return new Fault("badRequest", "Invalid message received");
}

/** @throws Fault */
export function requestOf({ payload }: ClientMessage): GraphqlRequest {
  try {
    return requestOfBody(payload);
  } catch {
    throw invalidMessage();
  }
}

/** @throws Fault */
export function idOf({ id }: ClientMessage): string {
  if (typeof id === "string" && id !== "" && id.length <= longestId) return id;
  throw invalidMessage();
}

/** A message as the protocol has them; undefined for anything else. */
export function messageOf(text: string): ClientMessage | undefined {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof message !== "object" || message === null || Array.isArray(message)) return undefined;
  const { type, payload } = message as ClientMessage;
  const isPlain = payload === undefined || (typeof payload === "object" && !Array.isArray(payload));
  return typeof type === "string" && isPlain ? (message as ClientMessage) : undefined;
}

/** The credential of `connection_init`: `{"authorization": "Bearer sk_test_..."}`. */
export function presentedIn(payload: unknown): Presented | undefined {
  const given = Object.entries(payload ?? {}).find(([name]) => name.toLowerCase() === "authorization");
  return given && { headers: { authorization: String(given[1]) }, rawHeaders: [] };
}

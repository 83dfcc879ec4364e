// The id of a request, in its response and its log lines: the caller's own if it is short, needs no escaping and does
// not look like a credential, otherwise a random one.

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** Excludes what looks like a key or a token. */
const requestIdPattern = /^(?!.*(?:[sp]k_(?:test|live)_|eyJ))[\w.-]{1,128}$/;

export function requestId({ headers }: Pick<IncomingMessage, "headers">): string {
  const header = headers["x-request-id"];
  return typeof header === "string" && requestIdPattern.test(header) ? header : randomUUID();
}

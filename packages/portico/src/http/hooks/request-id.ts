// Every request has an id, the caller's own where it is sane; answers and log lines carry it. None needs to be escaped
// there, and none holds a credential.

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** Nothing that looks like a key or a token is taken. */
const requestIdPattern = /^(?!.*(?:[sp]k_(?:test|live)_|eyJ))[\w.-]{1,128}$/;

export function requestId({ headers }: Pick<IncomingMessage, "headers">): string {
  const header = headers["x-request-id"];
  return typeof header === "string" && requestIdPattern.test(header) ? header : randomUUID();
}

// Every request has an id, the caller's own where it is sane; answers and log lines carry it.

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** It is written to logs, so nothing that looks like a key is taken. */
const sane = /^(?!.*[sp]k_(?:test|live)_)[\w.-]{1,128}$/;

export function requestId({ headers }: Pick<IncomingMessage, "headers">): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && sane.test(given) ? given : randomUUID();
}

// Every request has an id, the caller's own where it is sane; answers and log lines carry it. None needs to be escaped
// there, and none holds a credential.

import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** Nothing that looks like a key or a token is taken. */
const sane = /^(?!.*(?:[sp]k_(?:test|live)_|eyJ))[\w.-]{1,128}$/;

/** No two processes draw the same 72 bits; within one, requests are counted. */
const start = randomBytes(9).toString("base64url");
let count = 0;

export function requestId({ headers }: Pick<IncomingMessage, "headers">): string {
  const given = headers["x-request-id"];
  if (typeof given === "string" && sane.test(given)) return given;
  count += 1;
  return `${start}-${count.toString(36)}`;
}

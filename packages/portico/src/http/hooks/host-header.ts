// Requires exactly one valid Host header (RFC 9112, section 3.2). Its value is not used, but a proxy in front of the
// server must not read another host from the same request.

import type { IncomingMessage } from "node:http";
import { Problem } from "../../errors.ts";

/** RFC 3986, section 3.2: an address in brackets or a name, and a port. */
const hostForm = /^(?:\[[\da-f:.]{2,45}\]|[\w.~!$&'()*+,;=%-]{1,255})(?::\d{0,5})?$/i;

/** The latest valid value; most requests send the same. */
let validHost = "";

/** @throws Problem `malformed_request` */
export function requireHostHeader({ headers: { host }, rawHeaders, httpVersion }: IncomingMessage): void {
  if (host === undefined) {
    if (httpVersion !== "1.1") return;
    throw new Problem("malformed_request", "The header Host is missing.");
  }
  if (host !== validHost) {
    if (!hostForm.test(host)) throw new Problem("malformed_request", "The header Host is not a valid host.");
    validHost = host;
  }
  if (isTwice(rawHeaders)) throw new Problem("malformed_request", "Send the header Host once.");
}

/** Node's `headers` has only the first value; `rawHeaders` lists all names and values. */
function isTwice(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count > 1;
}

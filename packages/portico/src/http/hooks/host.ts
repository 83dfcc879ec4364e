// The header Host: there is one, and it names a host (RFC 9112, section 3.2). What it says is used nowhere; a proxy in
// front and the server must not read two different ones, though.

import type { IncomingMessage } from "node:http";
import { Problem } from "../../errors.ts";

/** RFC 3986, section 3.2: an address in brackets or a name, and a port. */
const hostForm = /^(?:\[[\da-f:.]{2,45}\]|[\w.~!$&'()*+,;=%-]{1,255})(?::\d{0,5})?$/i;

/** The last one that was found to be a host: most requests name the same. */
let known = "";

/** @throws Problem `malformed_request` */
export function requireHostHeader({ headers: { host }, rawHeaders, httpVersion }: IncomingMessage): void {
  if (host === undefined) {
    if (httpVersion !== "1.1") return;
    throw new Problem("malformed_request", "The header Host is missing.");
  }
  if (host !== known) {
    if (!hostForm.test(host)) throw new Problem("malformed_request", "The header Host names no host.");
    known = host;
  }
  if (isTwice(rawHeaders)) throw new Problem("malformed_request", "Send the header Host once.");
}

/** Node keeps the first of several; the list of names and values has them all. */
function isTwice(rawHeaders: readonly string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count > 1;
}

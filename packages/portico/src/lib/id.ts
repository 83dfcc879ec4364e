// Ids: a prefix that names the resource, `_`, and a UUIDv7 (RFC 9562, section 5.7) in 26 characters of
// Crockford's base32, the TypeID form: `post_01k2v8...`. They sort by the time at which they were made.

import { randomUUIDv7 } from "node:crypto";

const crockford = "0123456789abcdefghjkmnpqrstvwxyz";
const idPattern = /^[a-z][a-z0-9_]*_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

let last = 0n;

/** A new id, larger than every id this process made before (RFC 9562, section 6.2, method 2). */
export function newId(prefix: string): string {
  const drawn = BigInt(`0x${randomUUIDv7().replaceAll("-", "")}`);
  last = drawn > last ? drawn : last + 1n;
  let suffix = "";
  for (const digit of last.toString(32).padStart(26, "0")) suffix += crockford[Number.parseInt(digit, 32)];
  return `${prefix}_${suffix}`;
}

/** Whether a text could be an id at all; anything else needs no look at the database. */
export function isId(text: string): boolean {
  return text.length <= 80 && idPattern.test(text);
}

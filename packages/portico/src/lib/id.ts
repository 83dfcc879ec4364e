// Ids: a prefix for the resource, `_`, and a UUIDv7 (RFC 9562, section 5.7) in 26 characters of Crockford's base32, as in
// TypeID: `post_01k2v8...`. They sort by the time of their creation.

import { randomUUIDv7 } from "node:crypto";

const crockford = "0123456789abcdefghjkmnpqrstvwxyz";
const idPattern = /^[a-z][a-z0-9_]*_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

let last = 0n;

/** Returns an id that is larger than all earlier ones of this process (RFC 9562, section 6.2, method 2). */
export function newId(prefix: string): string {
  const uuid = BigInt(`0x${randomUUIDv7().replaceAll("-", "")}`);
  last = uuid > last ? uuid : last + 1n;
  let suffix = "";
  for (const digit of last.toString(32).padStart(26, "0")) suffix += crockford[Number.parseInt(digit, 32)];
  return `${prefix}_${suffix}`;
}

/** An id for documentation: always the same for a prefix. */
export function exampleId(prefix: string): string {
  return `${prefix}_01k9zc4xq8e2v9n7h3m5b6t1ra`;
}

/** Whether a text has the form of an id. Anything else need not be looked up. */
export function isId(text: string): boolean {
  return text.length <= 80 && idPattern.test(text);
}

/** When an id was created: milliseconds since 1970. @param id a valid id */
export function timeOfId(id: string): number {
  let value = 0n;
  for (const digit of id.slice(id.lastIndexOf("_") + 1))
    value = value * 32n + BigInt(crockford.indexOf(digit));
  return Number(value >> 80n);
}

/** The number of characters of an id. */
export function idLength(prefix: string): number {
  return prefix.length + "_".length + 26;
}

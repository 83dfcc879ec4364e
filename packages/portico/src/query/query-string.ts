// Parses query strings strictly: a string that is not well-formed is an error.

import { Problem } from "../errors.ts";

/** Parameters in one request; each value of a filter counts as one. */
const maxParameters = 100;

/** Parameters with their values, in the order of the query string. */
export type Query = ReadonlyMap<string, readonly string[]>;

const empty: Query = new Map();

/** The query of a request target, `/posts?status=draft&limit=5`. @throws Problem `malformed_request` */
export function parseQuery(target: string): Query {
  const start = target.indexOf("?");
  if (start < 0 || start === target.length - 1) return empty;
  const query = new Map<string, string[]>();
  const parts = target.slice(start + 1).split("&", maxParameters + 1);
  if (parts.length > maxParameters) {
    throw new Problem("malformed_request", `The query has more than ${maxParameters} parameters.`);
  }
  for (const part of parts) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const name = decodeComponent(equals < 0 ? part : part.slice(0, equals));
    const value = equals < 0 ? "" : decodeComponent(part.slice(equals + 1));
    const values = query.get(name);
    if (values) values.push(value);
    else query.set(name, [value]);
  }
  return query;
}

/** Decodes percent-encoding as in forms (WHATWG URL, section 5.1): `+` is a space. */
function decodeComponent(text: string): string {
  if (!text.includes("%") && !text.includes("+")) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new Problem("malformed_request", "The query has invalid percent-encoding.");
  }
}

// Values that a database cannot store: lone surrogates (which have no UTF-8), the character U+0000 and infinite numbers.

import { type InputError, Problem } from "../../errors.ts";
import { isStorable } from "../../lib/storable-text.ts";

/** Deepest nesting of a JSON body. */
const maxJsonDepth = 32;
/** Characters of a member's name. */
const maxNameLength = 1_000;

/** Yields an error for each value in a body that cannot be stored. @throws Problem `malformed_request` */
export function* unstorableValues(value: unknown, path: readonly string[] = []): Generator<InputError> {
  if (typeof value === "string") {
    if (!isStorable(value)) yield unstorable(path, "contains a character that cannot be stored");
    return;
  }
  if (typeof value === "number" && !Number.isFinite(value))
    yield { field: path.join("."), issue: "max", text: "is too large to be stored" };
  if (typeof value !== "object" || value === null) return;
  if (path.length >= maxJsonDepth)
    throw new Problem("malformed_request", `The body is nested more than ${maxJsonDepth} levels deep.`);
  for (const [key, inner] of Object.entries(value)) {
    if (key.length > maxNameLength)
      throw new Problem("malformed_request", `A member has a name of more than ${maxNameLength} characters.`);
    if (!isStorable(key)) yield unstorable(path, "has a member whose name cannot be stored");
    yield* unstorableValues(inner, [...path, key]);
  }
}

function unstorable(path: readonly string[], text: string): InputError {
  return { field: path.join("."), issue: "format", text };
}

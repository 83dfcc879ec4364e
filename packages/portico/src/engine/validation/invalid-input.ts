// One problem for all errors in the input of a request.

import { type InputError, Problem } from "../../errors.ts";
import type { Shape } from "../../model/model.ts";
import { sentenceOf } from "./messages.ts";

/** Errors with a detail of their own; more would only make the response longer. */
const maxDetails = 100;
/** Errors that the message spells out. */
const maxErrorsInMessage = 5;

/** `validation_error` with one detail for each error. */
export class InvalidInput extends Problem {
  readonly errors: readonly InputError[];
  /** What has the fields, where it is known: an older version of the API names those of a resource differently. */
  readonly shape: Shape | undefined;

  constructor(errors: readonly InputError[], shape?: Shape) {
    const unique = [...new Map(errors.map((each) => [`${each.field} ${each.issue}`, each])).values()];
    const sentences = unique.slice(0, maxErrorsInMessage).map(sentenceOf);
    const more =
      unique.length > maxErrorsInMessage ? [`And ${unique.length - maxErrorsInMessage} more.`] : [];
    const details = unique.slice(0, maxDetails).map(({ field, issue }) => ({ field, issue }));
    super("validation_error", [...sentences, ...more].join(" "), details);
    this.errors = errors;
    this.shape = shape;
  }
}

/** The members of a body that have no error. */
export function validMembers(body: unknown, errors: readonly InputError[]): Record<string, unknown> {
  if (errors.some(({ field }) => field === "")) return {};
  const invalid = new Set(errors.map(({ field }) => field.split(".")[0]));
  // A body that is not an object has an error for the body as a whole.
  const members = Object.entries(body as Readonly<Record<string, unknown>>);
  return Object.fromEntries(members.filter(([name]) => !invalid.has(name)));
}

// Errors in the format of GraphQL (section 7.1.2), with the code and details of the catalogue in `extensions`.

import { GraphQLError, type GraphQLFormattedError } from "graphql";
import { type ErrorCode, Problem } from "../../errors.ts";

/** An error of a response, and the problem that determines the HTTP status. */
export interface Failure {
  readonly problem: Problem;
  readonly formatted: GraphQLFormattedError;
}

/** The location of an error in the document, and its path in the response. */
type ErrorLocation = Pick<GraphQLFormattedError, "locations" | "path">;

/** Messages of graphql-js can repeat long values of the request. */
const maxMessage = 1_000;

export function failureOf(problem: Problem, { locations, path }: ErrorLocation = {}): Failure {
  const { code, details } = problem;
  const message =
    problem.message.length > maxMessage
      ? `${problem.message.slice(0, maxMessage).toWellFormed()}…`
      : problem.message;
  const formatted = {
    message,
    ...(locations && { locations }),
    ...(path && { path }),
    extensions: { code, details },
  };
  return { problem, formatted };
}

/** An error of graphql-js in a document or its variables. @param code depends on the stage: parsing or validation */
export function failureOfDocument(error: GraphQLError, code: ErrorCode): Failure {
  const { locations } = error.toJSON();
  return failureOf(new Problem(code, error.message), locations ? { locations } : {});
}

/** The names that graphql-js suggests instead of an unknown one. Those of values and input fields stand within a message. */
const suggestionsPattern = / Did you mean [^?]{1,1000}\?/g;

/** The failure for callers that may not read the schema. */
export function withoutSuggestions({ problem, formatted }: Failure): Failure {
  return {
    problem,
    formatted: { ...formatted, message: formatted.message.replaceAll(suggestionsPattern, "") },
  };
}

/** An error that a field has thrown. The message of an unexpected error is not revealed. */
export function failureOfField(error: unknown, location: ErrorLocation): Failure {
  if (error instanceof Problem) return failureOf(error, location);
  if (error instanceof GraphQLError) {
    const own = error.toJSON();
    const { locations = location.locations, path = location.path } = own;
    const errorLocation = { ...(locations && { locations }), ...(path && { path }) };
    if (error.originalError === undefined)
      return failureOf(new Problem("validation_error", error.message), errorLocation);
    return failureOfField(error.originalError, errorLocation);
  }
  return failureOf(new Problem("internal_error", undefined, [], {}, error), location);
}

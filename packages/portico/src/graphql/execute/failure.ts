// Errors in the shape of GraphQL (section 7.1.2), with the code and the details of the catalogue in `extensions`.

import { GraphQLError, type GraphQLFormattedError } from "graphql";
import { type ErrorCode, Problem } from "../../errors.ts";

/** An error as it stands in an answer, and what it means for the status. */
export interface Failure {
  readonly problem: Problem;
  readonly formatted: GraphQLFormattedError;
}

/** Where an error belongs: the place in the document and the path in the answer. */
type ErrorLocation = Pick<GraphQLFormattedError, "locations" | "path">;

/** Messages of graphql-js repeat what was sent. */
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

/** What graphql-js found wrong with a document or its variables; `code` says which stage it was. */
export function failureOfDocument(error: GraphQLError, code: ErrorCode): Failure {
  const { locations } = error.toJSON();
  return failureOf(new Problem(code, error.message), locations ? { locations } : {});
}

/** An error of a field that graphql-js ran, or of one that was compiled. Unexpected ones say nothing of themselves. */
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

// The text of an error on the command line.

import { OperatorError, Problem } from "../errors.ts";

/** One line for an error that the operator can fix; any other is a bug, and its stack helps to find it. */
export function operatorMessage(error: unknown): string {
  if (error instanceof OperatorError || error instanceof Problem) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

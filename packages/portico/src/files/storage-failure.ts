// Failures of the storage, as the API reports them.

import { Problem } from "../errors.ts";

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

/** The error for a storage that is full, unreachable or forbidden. Its cause is logged. */
export function storageUnavailable(cause: unknown): Problem {
  if (cause instanceof Problem) return cause;
  return new Problem("unavailable", "The storage of files does not answer. Try again.", [], {}, cause);
}

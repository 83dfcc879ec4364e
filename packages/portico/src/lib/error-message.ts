// The message of a caught value.

/** The message of an error, or its code or name if it has none; other values as text. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ("code" in error ? String(error.code) : error.name);
}

// Errors of SQLite on their way from a thread: an `Error` would lose its codes when it is cloned.

/** The parts of an error that identify its kind. */
export interface ReadFailure {
  readonly message: string;
  readonly code: string | undefined;
  readonly errcode: number | undefined;
}

export function failureOf(error: unknown): ReadFailure {
  if (!(error instanceof Error)) return { message: String(error), code: undefined, errcode: undefined };
  const { code, errcode } = error as Error & { readonly code?: string; readonly errcode?: number };
  return { message: error.message, code, errcode };
}

export function errorOf({ message, code, errcode }: ReadFailure): Error {
  return Object.assign(
    new Error(message),
    code !== undefined && { code },
    errcode !== undefined && { errcode },
  );
}

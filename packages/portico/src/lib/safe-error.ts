// What code of a project throws may be anything, of any size: it may throw again when it is read.

import { inspect } from "node:util";

const maxMessageLength = 1_000;
const maxStackLength = 4_000;
const maxCauses = 3;

/** An error that can be logged and stored, for whatever was thrown: with its name, message, stack and up to three causes. */
export function safeError(thrown: unknown): Error {
  return copyOf(thrown, maxCauses);
}

function copyOf(thrown: unknown, causes: number): Error {
  const error = new Error();
  try {
    const isError = thrown instanceof Error;
    error.name = isError ? String(thrown.name).slice(0, maxMessageLength) : "NonError";
    const text = isError ? String(thrown.message) : inspect(thrown, { depth: 1, maxArrayLength: 10 });
    error.message = text.slice(0, maxMessageLength);
    error.stack = isError ? String(thrown.stack).slice(0, maxStackLength) : `${error.name}: ${error.message}`;
    const cause: unknown = isError && causes > 0 ? thrown.cause : undefined;
    if (cause !== undefined) error.cause = copyOf(cause, causes - 1);
  } catch {
    error.message = "what was thrown cannot be shown";
  }
  return error;
}

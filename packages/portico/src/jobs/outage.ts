// Whether a failure says that the database does not answer, and nothing about what it was asked.

import { Problem } from "../errors.ts";

export function isOutage(error: unknown): boolean {
  return error instanceof Problem && error.code === "unavailable";
}

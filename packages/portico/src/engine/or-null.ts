// Rows that may be missing.

import { Problem } from "../errors.ts";

/** A row that is not there is null, and no error. */
export async function orNull(text: Promise<string>): Promise<string> {
  try {
    return await text;
  } catch (error) {
    if (error instanceof Problem && error.code === "not_found") return "null";
    throw error;
  }
}

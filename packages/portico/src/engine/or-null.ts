// Reads of rows that may not exist.

import { Problem } from "../errors.ts";

/** `null` as JSON text for a row that is not found. */
export async function orNull(text: Promise<string>): Promise<string> {
  try {
    return await text;
  } catch (error) {
    if (error instanceof Problem && error.code === "not_found") return "null";
    throw error;
  }
}

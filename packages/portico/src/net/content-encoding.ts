// Compressed request bodies are refused: bodies are small, and the size of a decompressed one is not bounded.

import { Problem } from "../errors.ts";

/** @throws Problem 415 for a body with a `Content-Encoding` (RFC 9110, section 15.5.16) */
export function requireUncompressed(encoding: string | undefined): void {
  if (encoding === undefined || encoding.toLowerCase() === "identity") return;
  const headers = { "Accept-Encoding": "identity" };
  throw new Problem("unsupported_media_type", "Send the body without Content-Encoding.", [], headers);
}

// Requests for a part of a content (RFC 9110, section 14).

import type { ByteRange } from "../files/storage.ts";

/**
 * The part that a `Range` header asks for. A header that is not understood is ignored, as one for several parts is.
 *
 * @returns `unsatisfiable` for a part that the content does not have, undefined for the whole content
 */
export function requestedRange(
  header: string | undefined,
  size: number,
): ByteRange | "unsatisfiable" | undefined {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== "" && Number(last) < start) return undefined;
  return start >= size ? "unsatisfiable" : { start, end };
}

// Conditional requests (RFC 9110, section 13): strong entity tags of single resources.

import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Precondition } from "../engine/writing.ts";
import { Problem } from "../errors.ts";

/** The entity tag of a representation: equal for equal bytes only. */
export function entityTag(text: string): string {
  return `"${hash("sha256", text, "base64url").slice(0, 22)}"`;
}

/** Whether the caller has this representation already, so that 304 says enough (section 13.1.2). */
export function isUnchanged(headers: IncomingHttpHeaders, tag: string): boolean {
  const given = headers["if-none-match"];
  return given !== undefined && holds(given, tag, true);
}

/** @throws Problem `precondition_failed` where the caller asks for another representation (section 13.1.1) */
export function requireMatch(headers: IncomingHttpHeaders, tag: string): void {
  const given = headers["if-match"];
  if (given === undefined || holds(given, tag, false)) return;
  throw new Problem("precondition_failed", undefined, [], { ETag: tag });
}

/** What `If-Match` and `If-None-Match` ask of the row before it is written; undefined where they ask nothing. */
export function writePrecondition(headers: IncomingHttpHeaders): Precondition | undefined {
  const match = headers["if-match"];
  const noneMatch = headers["if-none-match"];
  if (match === undefined && noneMatch === undefined) return undefined;
  return (text) => {
    const tag = entityTag(text);
    const isMet =
      (match === undefined || holds(match, tag, false)) &&
      (noneMatch === undefined || !holds(noneMatch, tag, true));
    if (!isMet) throw new Problem("precondition_failed", undefined, [], { ETag: tag });
  };
}

/** Whether a list of tags, or `*`, has this one; weak tags count only in the weak comparison (section 8.8.3.2). */
function holds(list: string, tag: string, isWeak: boolean): boolean {
  if (list.trim() === "*") return true;
  return list.split(",").some((each) => {
    const given = each.trim();
    return given === tag || (isWeak && given === `W/${tag}`);
  });
}

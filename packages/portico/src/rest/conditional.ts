// Conditional requests (RFC 9110, section 13): strong entity tags of single resources.

import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Precondition } from "../engine/write-context.ts";
import { Problem } from "../errors.ts";
import type { ResourceModel } from "../model/model.ts";
import { matchesTag } from "../query/entity-tag.ts";
import { rowIn } from "../versions/rows.ts";

/** The entity tag of a row, equal for equal bytes only, except those of fields with `excludeFromETag`. */
export function entityTag({ excludedFromETag }: ResourceModel, text: string): string {
  const content = excludedFromETag.length === 0 ? text : withoutMembers(excludedFromETag, text);
  return `"${hash("sha256", content, "base64url").slice(0, 22)}"`;
}

function withoutMembers(names: readonly string[], text: string): string {
  const members = Object.entries(JSON.parse(text) as Record<string, unknown>);
  return JSON.stringify(members.filter(([name]) => !names.includes(name)));
}

/** Whether the caller already has this representation, so that the response is 304 (section 13.1.2). */
export function isUnchanged(headers: IncomingHttpHeaders, tag: string): boolean {
  const ifNoneMatch = headers["if-none-match"];
  return ifNoneMatch !== undefined && matchesTag(ifNoneMatch, tag, true);
}

/** @throws Problem `precondition_failed` if the caller requires another representation (section 13.1.1) */
export function requireMatch(headers: IncomingHttpHeaders, tag: string): void {
  const ifMatch = headers["if-match"];
  if (ifMatch === undefined || matchesTag(ifMatch, tag, false)) return;
  throw new Problem("precondition_failed", undefined, [], { ETag: tag });
}

/** The precondition of `If-Match` and `If-None-Match`; undefined without these headers. */
export function writePrecondition(
  resource: ResourceModel,
  headers: IncomingHttpHeaders,
): Precondition | undefined {
  const match = headers["if-match"];
  const noneMatch = headers["if-none-match"];
  if (match === undefined && noneMatch === undefined) return undefined;
  return (text) => {
    const tag = entityTag(resource, rowIn(resource, text));
    const isMet =
      (match === undefined || matchesTag(match, tag, false)) &&
      (noneMatch === undefined || !matchesTag(noneMatch, tag, true));
    if (!isMet) throw new Problem("precondition_failed", undefined, [], { ETag: tag });
  };
}

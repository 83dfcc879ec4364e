// The envelope of a collection and the links beside it. The rows are the store's text; nothing is parsed.

import type { CursorCodec } from "../query/cursor.ts";
import type { Page } from "../query/page.ts";
import type { Position } from "../query/read.ts";
import type { ParsedList } from "./parse-list.ts";

export interface Envelope {
  readonly text: string;
  /** The value of `Link` (RFC 8288), where there is another page. */
  readonly link: string | undefined;
}

/**
 * `{"data": [...], "pagination": {...}}`. A page has a `prevCursor` when it has rows; `hasMore` speaks of the
 * direction in which it was read.
 *
 * @param target the request target that the links repeat with other cursors, `/posts?limit=5`
 */
export function envelope(list: ParsedList, page: Page, cursors: CursorCodec, target: string): Envelope {
  return list.read.page.style === "page"
    ? numberedEnvelope(list.read.page.number, page, target)
    : cursorEnvelope(list, page, cursors, target);
}

const cursorNames = ["cursor", "direction"];

function cursorEnvelope(
  { read, key }: ParsedList,
  page: Page,
  cursors: CursorCodec,
  target: string,
): Envelope {
  // `envelope` calls this for pages by cursor only.
  const { isBackward, position } = read.page as Extract<typeof read.page, { style: "cursor" }>;
  const token = (at: Position | undefined): string | undefined => at && cursors.encode(key, read.sort, at);
  // Going backward, there are rows after the page: those that the cursor came from.
  const next = (isBackward ? position !== undefined : page.hasMore) ? token(page.last) : undefined;
  const previous = token(page.first);
  const hasPrevious = isBackward ? page.hasMore : position !== undefined;
  const base = targetWithout(target, cursorNames);
  const nextLink = next && `<${base}cursor=${next}>; rel="next"`;
  const previousLink =
    hasPrevious && previous && `<${base}cursor=${previous}&direction=backward>; rel="prev"`;
  // Tokens are base64url, which JSON writes as it is.
  const nextText = next === undefined ? "null" : `"${next}"`;
  const previousText = previous === undefined ? "" : `,"prevCursor":"${previous}"`;
  return {
    text: `{"data":${page.rows},"pagination":{"nextCursor":${nextText},"hasMore":${page.hasMore}${previousText}}}`,
    link: nextLink && previousLink ? `${nextLink}, ${previousLink}` : nextLink || previousLink || undefined,
  };
}

function numberedEnvelope(number: number, page: Page, target: string): Envelope {
  const base = targetWithout(target, ["page"]);
  const links = [
    ...(page.hasMore ? [`<${base}page=${number + 1}>; rel="next"`] : []),
    ...(number > 1 ? [`<${base}page=${number - 1}>; rel="prev"`] : []),
  ];
  return {
    text: `{"data":${page.rows},"pagination":{"nextCursor":null,"hasMore":${page.hasMore},"total":${page.total}}}`,
    link: links.length > 0 ? links.join(", ") : undefined,
  };
}

/** The target without some parameters, ready for others: `/posts?limit=5&`. Names and tokens need no escaping. */
function targetWithout(target: string, names: readonly string[]): string {
  const start = target.indexOf("?");
  if (start < 0) return `${target}?`;
  let remaining = target.slice(0, start + 1);
  for (const part of target.slice(start + 1).split("&")) {
    const equals = part.indexOf("=");
    if (part !== "" && !names.includes(equals < 0 ? part : part.slice(0, equals))) remaining += `${part}&`;
  }
  return remaining;
}

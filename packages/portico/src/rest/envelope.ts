// The envelope of a collection and its `Link` header. The rows are the text of the store; nothing is parsed.

import type { Page } from "../engine/page.ts";
import type { ListRequest } from "../query/read.ts";

export interface Envelope {
  readonly text: string;
  /** The value of `Link` (RFC 8288), if there is another page. */
  readonly link: string | undefined;
}

/**
 * `{"data": [...], "pagination": {...}}`. A page with rows has a `prevCursor`; `hasMore` refers to the direction in
 * which the page was read.
 *
 * @param target the request target that the links repeat with other cursors, `/posts?limit=5`
 * @param rows the text of the rows, if something was added to it
 */
export function envelope(
  requested: ListRequest["page"],
  page: Page,
  target: string,
  rows: string = page.rows,
): Envelope {
  return requested.style === "page"
    ? numberedEnvelope(requested.number, page, target, rows)
    : cursorEnvelope(page, target, rows);
}

const cursorNames = ["cursor", "direction"];

function cursorEnvelope(page: Page, target: string, rows: string): Envelope {
  const next = page.hasNext ? page.endCursor : undefined;
  const previous = page.startCursor;
  const base = targetWithout(target, cursorNames);
  const nextLink = next && `<${base}cursor=${next}>; rel="next"`;
  const previousLink =
    page.hasPrevious && previous && `<${base}cursor=${previous}&direction=backward>; rel="prev"`;
  // Cursors are base64url, which needs no escaping in JSON.
  const nextText = next === undefined ? "null" : `"${next}"`;
  const previousText = previous === undefined ? "" : `,"prevCursor":"${previous}"`;
  return {
    text: `{"data":${rows},"pagination":{"nextCursor":${nextText},"hasMore":${page.hasMore}${previousText}}}`,
    link: nextLink && previousLink ? `${nextLink}, ${previousLink}` : nextLink || previousLink || undefined,
  };
}

function numberedEnvelope(number: number, page: Page, target: string, rows: string): Envelope {
  const base = targetWithout(target, ["page"]);
  const links = [
    ...(page.hasNext ? [`<${base}page=${number + 1}>; rel="next"`] : []),
    ...(page.hasPrevious ? [`<${base}page=${number - 1}>; rel="prev"`] : []),
  ];
  return {
    text: `{"data":${rows},"pagination":{"nextCursor":null,"hasMore":${page.hasMore},"total":${page.total}}}`,
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

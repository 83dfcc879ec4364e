// Locations of errors in a document. The line starts of a document are computed once, however many errors it has.

import type { ASTNode, Source } from "graphql";

const lineStarts = new WeakMap<Source, readonly number[]>();

export interface Location {
  readonly line: number;
  readonly column: number;
}

/** The locations of nodes. Lines and columns count from 1 (GraphQL, section 7.1.2). */
export function locationsOf(nodes: readonly ASTNode[]): Location[] {
  return nodes.flatMap(({ loc }) => (loc ? [locationIn(loc.source, loc.start)] : []));
}

function locationIn(source: Source, offset: number): Location {
  let starts = lineStarts.get(source);
  if (!starts) {
    const ends = source.body.matchAll(/\r\n|[\n\r]/g);
    starts = [0, ...ends.map(({ index, 0: text }) => index + text.length)];
    lineStarts.set(source, starts);
  }
  const index = starts.findLastIndex((start) => start <= offset);
  return { line: index + 1, column: offset + 1 - starts[index]! };
}

// The searches of the bench. Every word of `postOf` is in about half of the posts; a number is the beginning of the last
// word of a title, so that few digits are in many posts.

import type { Row } from "./rows.ts";

const searches: Readonly<Record<string, string>> = {
  "half of the posts": "engine",
  "1 % of the posts": "12",
  "11 posts": "1234",
  "no post": "nowhere",
  "three words": "engine loom 12",
};

/**
 * @param get makes the load of requests for a path
 * @param names which searches; by default all
 */
export function searchRows(
  get: (paths: readonly string[]) => Row["load"],
  names: readonly string[] = Object.keys(searches),
): Row[] {
  const chosen = Object.entries(searches).filter(([name]) => names.includes(name));
  return chosen.flatMap(([name, q]) =>
    ["", "&sort=title"].map((sort) => ({
      name: `search, ${name}${sort ? ", by title" : ""}`,
      load: get([`/posts?limit=20&q=${encodeURIComponent(q)}${sort}`]),
    })),
  );
}

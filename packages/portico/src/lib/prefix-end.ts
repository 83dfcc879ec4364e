// The end of the range of texts that begin with a prefix.

const maxCodePoint = 0x10ffff;

/**
 * The first text after all texts that begin with a prefix, in the order of their UTF-8 bytes, which is that of their code
 * points; undefined if there is none. `"ab"` -> `"ac"`
 *
 * @param prefix well-formed Unicode
 */
export function prefixEnd(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0)!);
  while (points.at(-1) === maxCodePoint) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  // Surrogates are not characters.
  const next = last === 0xd7ff ? 0xe000 : last + 1;
  return String.fromCodePoint(...points, next);
}

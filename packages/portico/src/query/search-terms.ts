// Splits text into words for search, the same for both databases: letters and digits of any script, in lower case and
// without accents.

const maxWordLength = 64;

/** The distinct words of a text. `"Déjà vu, 2×"` -> `["deja", "vu", "2"]` */
export function searchWords(text: string): string[] {
  if (isAscii.test(text)) return distinct(text.toLowerCase().match(/[a-z0-9]+/g) ?? []);
  const plain = text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
  return distinct(plain.match(/[\p{L}\p{N}]+/gu) ?? []);
}

/** Most texts are, and their words are found in a third of the time. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are ASCII.
const isAscii = /^[\x00-\x7f]*$/;

/** @returns the words without repetitions, each with at most as many characters as the index has of it */
function distinct(words: readonly string[]): string[] {
  const shortened = words.map((word) =>
    word.length > maxWordLength ? [...word].slice(0, maxWordLength).join("") : word,
  );
  return [...new Set(shortened)];
}

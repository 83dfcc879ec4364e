// Splits text into words for search, the same for both databases: letters and digits of any script, in lower case and
// without accents.

const maxWordLength = 64;

/** The distinct words of a text. `"Déjà vu, 2×"` -> `["deja", "vu", "2"]` */
export function searchWords(text: string): string[] {
  if (text === "") return [];
  const plain = text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
  const words = plain.match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.map((word) => [...word].slice(0, maxWordLength).join("")))];
}

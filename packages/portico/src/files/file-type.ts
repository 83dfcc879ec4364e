// Whether the content of a file is of the type that its sender names, as far as its first bytes show it. A short table and
// no library: only types that are shown in a browser, or that are often mistaken, need to be told apart; all others are
// sent as downloads.

/** The first bytes of a file that are examined. */
export const signatureBytes = 512;

/** The images that a browser shows and that cannot contain code. They are served to be shown, all else as a download. */
const shownTypes: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/avif",
]);

export function isShown(type: string): boolean {
  return shownTypes.has(type);
}

interface Signature {
  /** The types of files that begin like this. */
  readonly types: readonly string[];
  matches(text: string): boolean;
}

const startsWith = (...starts: readonly string[]): Signature["matches"] => {
  return (text) => starts.some((start) => text.startsWith(start));
};
const inBox =
  (...brands: readonly string[]): Signature["matches"] =>
  (text) =>
    text.slice(4, 8) === "ftyp" && brands.some((brand) => text.slice(8, 64).includes(brand));

/** In latin1: one character for each byte. */
const signatures: readonly Signature[] = [
  { types: ["image/png"], matches: startsWith("\x89PNG\r\n\x1a\n") },
  { types: ["image/jpeg"], matches: startsWith("\xff\xd8\xff") },
  { types: ["image/gif"], matches: startsWith("GIF87a", "GIF89a") },
  {
    types: ["image/webp"],
    matches: (text) => text.startsWith("RIFF") && text.slice(8, 12) === "WEBP",
  },
  { types: ["image/avif"], matches: inBox("avif", "avis") },
  { types: ["application/pdf"], matches: (text) => text.includes("%PDF-") },
  { types: ["application/gzip", "application/x-gzip"], matches: startsWith("\x1f\x8b") },
];

/** Types whose content must begin with their signature. */
const signedTypes: ReadonlySet<string> = new Set(signatures.flatMap(({ types }) => types));

/** What a browser would run or lay out as a page (the beginning of the MIME Sniffing Standard, section 7.1). */
const page = /^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html|head|script|iframe|body|svg|\?xml)/i;
const pageTypes = /^(?:text\/|application\/(?:xhtml\+xml|xml|octet-stream|.+\+xml)$|image\/svg\+xml$)/;

/** Whether a file of this type cannot begin with these bytes. */
export function contradicts(type: string, start: Buffer): boolean {
  const text = start.toString("latin1");
  const found = signatures.find(({ matches }) => matches(text));
  if (signedTypes.has(type)) return found === undefined || !found.types.includes(type);
  if (page.test(text)) return !pageTypes.test(type);
  // A picture that calls itself text, for example. A container may hold one of these, so only types of text are refused.
  return found !== undefined && (type.startsWith("text/") || type.startsWith("image/"));
}

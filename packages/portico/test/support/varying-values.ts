// Values that differ from run to run: ids, keys, cursors, timestamps. Two texts are equal if their values are of the same
// kinds, and equal values of one are equal in the other.

/** The patterns of these values, by kind. */
const kinds = {
  key: /\b[sp]k_(?:test|live)_[\w-]{43}/,
  prefix: /\b[sp]k_(?:test|live)_[\w-]{4}(?=…|")/,
  id: /\b[a-z]+(?:_[a-z]+)*_[0-7][0-9a-hjkmnp-tv-z]{25}\b/,
  cursor: /\beyJ[\w-]{40,}/,
  webhookSecret: /\bwhsec_[\w+/]{43}=/,
  secret: /(?<![\w-])[\w-]{43}(?![\w-])/,
  userCode: /\b[B-Z]{4}-[B-Z]{4}\b/,
  uuid: /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b/,
  tag: /"[\w-]{22}"/,
  // Written up to a second after the key was used.
  use: /(?<="lastUsedAt": )(?:null|"[^"]*")/,
  timestamp: /\b\d{4}-\d\d-\d\dT[\d:.]+Z/,
  date: /\b20\d\d-\d\d-\d\d\b/,
  duration: /\bdur=[\d.]+/,
  seconds: /(?<=^retry-after: |;t=|\?expires=)\d+/,
};
const anyValue = new RegExp(
  Object.entries(kinds)
    .map(([kind, pattern]) => `(?<${kind}>${pattern.source})`)
    .join("|"),
  "g",
);
/** Kinds of which any value equals any other. */
const interchangeable = new Set(["use", "timestamp", "date", "duration", "seconds"]);

/** Maps the values of the document to those of the responses. */
export class VaryingValues {
  readonly #shown: string[] = [];
  readonly #real: string[] = [];

  /** Both texts with every value replaced by its kind and the order of its first occurrence. */
  neutral(shown: string, real: string): [string, string] {
    return [numbered(shown, this.#shown), numbered(real, this.#real)];
  }

  /** A text of the document with its values replaced by those of earlier responses. */
  real(text: string): string {
    return text.replace(anyValue, (value) => this.#real[this.#shown.indexOf(value)] ?? value);
  }
}

function numbered(text: string, known: string[]): string {
  return text.replace(anyValue, (value, ...rest) => {
    const groups = rest.at(-1) as Record<string, string | undefined>;
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined)!;
    if (interchangeable.has(kind)) return `<${kind}>`;
    if (!known.includes(value)) known.push(value);
    const prefix = kind === "id" ? `${value.slice(0, -27)} ` : "";
    return `<${prefix}${kind} ${known.indexOf(value) + 1}>`;
  });
}

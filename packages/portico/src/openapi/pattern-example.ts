// A text that matches a regular expression, for examples. It knows the parts that patterns of fields usually have:
// characters, classes, groups, alternatives and quantifiers.

/**
 * @param minLength the minimum length; quantifiers without an upper limit repeat often enough
 * @returns undefined for an expression with other parts
 * @example
 * textMatching("^(?:[a-z]{2}-\\d+)$"); // "aa-0"
 */
export function textMatching(pattern: string, minLength = 0): string | undefined {
  for (const repeats of [1, minLength]) {
    const text = new Sampler(pattern, repeats).sample();
    if (text !== undefined && text.length >= minLength && new RegExp(pattern, "u").test(text)) return text;
  }
  return undefined;
}

const classes: Readonly<Record<string, string>> = { d: "0", w: "a", s: " ", D: "a", S: "a", W: "-" };

class Sampler {
  readonly #pattern: string;
  readonly #repeats: number;
  #index = 0;

  /** @param repeats how often what has no upper limit is repeated */
  constructor(pattern: string, repeats: number) {
    this.#pattern = pattern;
    this.#repeats = repeats;
  }

  sample(): string | undefined {
    const text = this.#alternatives();
    return this.#index === this.#pattern.length ? text : undefined;
  }

  /** The first of the alternatives; the others are skipped. */
  #alternatives(): string | undefined {
    const first = this.#sequence();
    while (this.#takes("|")) if (this.#sequence() === undefined) return undefined;
    return first;
  }

  #sequence(): string | undefined {
    let text = "";
    while (this.#index < this.#pattern.length && !/[|)]/.test(this.#pattern[this.#index]!)) {
      const part = this.#part();
      if (part === undefined) return undefined;
      text += part.repeat(this.#count());
    }
    return text;
  }

  #part(): string | undefined {
    if (this.#takes("^") || this.#takes("$")) return "";
    if (this.#takes("(")) return this.#group();
    if (this.#takes("[")) return this.#class();
    if (this.#takes("\\")) return this.#escape();
    const character = this.#pattern[this.#index]!;
    if (/[*+?{}\]]/.test(character)) return undefined;
    this.#index += 1;
    return character === "." ? "a" : character;
  }

  #group(): string | undefined {
    if (this.#takes("?") && !this.#takes(":")) return undefined;
    const text = this.#alternatives();
    return this.#takes(")") ? text : undefined;
  }

  /** The first character of a class. */
  #class(): string | undefined {
    const end = this.#pattern.indexOf("]", this.#index);
    const members = this.#pattern.slice(this.#index, end);
    if (end === -1 || members === "" || members.endsWith("\\")) return undefined;
    this.#index = end + 1;
    if (members.startsWith("^"))
      return [..."a0-_ A"].find((each) => new RegExp(`[${members}]`, "u").test(each));
    return members.startsWith("\\") ? (classes[members[1]!] ?? members[1]) : members[0];
  }

  #escape(): string | undefined {
    const character = this.#pattern[this.#index]!;
    this.#index += 1;
    if (/[bBkpPux0-9]/.test(character)) return undefined;
    return classes[character] ?? character;
  }

  #count(): number {
    let count = 1;
    if (this.#takes("*") || this.#takes("+")) count = Math.max(1, this.#repeats);
    else if (!this.#takes("?")) {
      const [all = "", least, isRange, most] =
        /^\{(\d+)(,?)(\d*)\}/.exec(this.#pattern.slice(this.#index)) ?? [];
      this.#index += all.length;
      if (least !== undefined)
        count = isRange
          ? Math.min(Math.max(Number(least), this.#repeats), Number(most || Infinity))
          : Number(least);
    }
    this.#takes("?");
    return count;
  }

  #takes(character: string): boolean {
    if (this.#pattern[this.#index] !== character) return false;
    this.#index += 1;
    return true;
  }
}

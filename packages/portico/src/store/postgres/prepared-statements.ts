// Which statements are prepared: those that are short, among the first shapes.

/**
 * The maximum number of prepared statements: the server keeps each for the life of a connection, and callers can create
 * any number of shapes (`fields`, filters). Further shapes are planned at each use.
 */
const maxPrepared = 400;
/** Longer statements are not prepared. */
const maxPreparedLength = 8_000;
export class PreparedStatements {
  readonly #texts = new Set<string>();

  /** Whether a statement is prepared. */
  includes(text: string): boolean {
    if (this.#texts.has(text)) return true;
    if (text.length > maxPreparedLength || this.#texts.size >= maxPrepared) return false;
    this.#texts.add(text);
    return true;
  }
}

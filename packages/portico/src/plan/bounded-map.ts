// A map that holds at most so many entries, or so much weight, and lets go of the one that was added first.

export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #most: number;
  readonly #weigh: (key: Key, value: Value) => number;
  #weight = 0;

  /** @param weigh what an entry counts, where they are of different sizes */
  constructor(most: number, weigh: (key: Key, value: Value) => number = () => 1) {
    this.#most = most;
    this.#weigh = weigh;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    const weight = this.#weigh(key, value);
    // For one that is too heavy by itself, all others would have to go.
    if (weight > this.#most) return;
    this.#entries.set(key, value);
    this.#weight += weight;
    while (this.#weight > this.#most) this.delete(this.#entries.keys().next().value!);
  }

  delete(key: Key): void {
    if (!this.#entries.has(key)) return;
    // It was just seen to be there.
    this.#weight -= this.#weigh(key, this.#entries.get(key) as Value);
    this.#entries.delete(key);
  }
}

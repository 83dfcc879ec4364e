// A map that holds at most so many entries, or so much weight, and lets go of the one that was added first.

export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #maxWeight: number;
  readonly #weightOf: (key: Key, value: Value) => number;
  #weight = 0;

  /** @param weightOf what an entry counts, where they are of different sizes */
  constructor(maxWeight: number, weightOf: (key: Key, value: Value) => number = () => 1) {
    this.#maxWeight = maxWeight;
    this.#weightOf = weightOf;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: Key, value: Value): void {
    this.delete(key);
    const weight = this.#weightOf(key, value);
    // For one that is too heavy by itself, all others would have to go.
    if (weight > this.#maxWeight) return;
    this.#entries.set(key, value);
    this.#weight += weight;
    while (this.#weight > this.#maxWeight) this.delete(this.#entries.keys().next().value!);
  }

  delete(key: Key): void {
    if (!this.#entries.has(key)) return;
    // It was just seen to be there.
    this.#weight -= this.#weightOf(key, this.#entries.get(key) as Value);
    this.#entries.delete(key);
  }
}

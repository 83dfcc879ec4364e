// A map with a maximum number or weight of entries. When it is full, the oldest entries are removed.

export class BoundedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #maxWeight: number;
  readonly #weightOf: (key: Key, value: Value) => number;
  #weight = 0;

  /** @param weightOf the weight of an entry; 1 by default */
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
    // It would displace all other entries and still not fit.
    if (weight > this.#maxWeight) return;
    this.#entries.set(key, value);
    this.#weight += weight;
    while (this.#weight > this.#maxWeight) this.delete(this.#entries.keys().next().value!);
  }

  delete(key: Key): void {
    if (!this.#entries.has(key)) return;
    // The entry exists, so its value is of this type.
    this.#weight -= this.#weightOf(key, this.#entries.get(key) as Value);
    this.#entries.delete(key);
  }
}

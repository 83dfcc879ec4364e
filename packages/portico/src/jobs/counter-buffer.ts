// A write buffer that adds up entries of the same name, so that each name is one row of a flush.

import type { ColumnRow, WriteRows } from "../store/compile/many-rows.ts";
import { halvesOf, type WriteBatch, type WriteBuffer } from "./write-behind.ts";

/** Entries in memory. When it is full, entries of new names are dropped. */
const maxEntries = 50_000;
/** Rows of one transaction, and transactions of one flush. Further entries stay for the next flush. */
const rowsPerBatch = 250;
const batchesPerFlush = 20;

export interface CounterBufferOptions<Entry> {
  /** Adds `added` to `total`. */
  readonly merge: (total: Entry, added: Entry) => void;
  readonly rowOf: (entry: Entry) => ColumnRow;
  readonly write: WriteRows;
}

type NamedEntry<Entry> = readonly [name: string, entry: Entry];

export class CounterBuffer<Entry> implements WriteBuffer {
  readonly #options: CounterBufferOptions<Entry>;
  readonly #entries = new Map<string, Entry>();
  /** Number of dropped entries. */
  dropped = 0;

  constructor(options: CounterBufferOptions<Entry>) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  add(name: string, entry: Entry): void {
    const existing = this.#entries.get(name);
    if (existing !== undefined) this.#options.merge(existing, entry);
    else if (this.#entries.size < maxEntries) this.#entries.set(name, entry);
    else this.dropped += 1;
  }

  drain(): readonly WriteBatch[] {
    const drained: NamedEntry<Entry>[] = [];
    for (const named of this.#entries) {
      if (drained.length === rowsPerBatch * batchesPerFlush) break;
      drained.push(named);
    }
    for (const [name] of drained) this.#entries.delete(name);
    // Processes that lock the same rows in the same order cannot deadlock.
    drained.sort(([one], [other]) => (one < other ? -1 : 1));
    const count = Math.ceil(drained.length / rowsPerBatch);
    const starts = Array.from({ length: count }, (_, index) => index * rowsPerBatch);
    return starts.map((start) => this.#batch(drained.slice(start, start + rowsPerBatch)));
  }

  #batch(entries: readonly NamedEntry<Entry>[]): WriteBatch {
    const { write, rowOf } = this.#options;
    const rows = entries.map(([, entry]) => rowOf(entry));
    return {
      write: (session) => write(session, rows),
      restore: () => {
        for (const [name, entry] of entries) this.add(name, entry);
      },
      halves: () => halvesOf(entries).map((half) => this.#batch(half)),
    };
  }
}

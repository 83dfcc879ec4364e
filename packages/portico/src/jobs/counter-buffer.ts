// Rows that add up in memory until they are written: one entry for each name, however often it is met.

import type { ColumnRow, WriteRows } from "../store/compile/many-rows.ts";
import { halvesOf, type WriteBatch, type WriteBuffer } from "./write-behind.ts";

/** Entries kept in memory; beyond that, only those that are there already add up. */
const maxEntries = 50_000;
/** Rows of one transaction, and transactions of one flush; what is left goes on adding up until the next. */
const rowsPerBatch = 250;
const batchesPerFlush = 20;

export interface CounterBufferOptions<Entry> {
  /** Adds what an entry holds to the one of the same name. */
  readonly merge: (known: Entry, more: Entry) => void;
  readonly rowOf: (entry: Entry) => ColumnRow;
  readonly write: WriteRows;
}

type NamedEntry<Entry> = readonly [name: string, entry: Entry];

export class CounterBuffer<Entry> implements WriteBuffer {
  readonly #options: CounterBufferOptions<Entry>;
  readonly #entries = new Map<string, Entry>();
  /** How many entries there was no room for. */
  dropped = 0;

  constructor(options: CounterBufferOptions<Entry>) {
    this.#options = options;
  }

  add(name: string, entry: Entry): void {
    const existing = this.#entries.get(name);
    if (existing !== undefined) this.#options.merge(existing, entry);
    else if (this.#entries.size < maxEntries) this.#entries.set(name, entry);
    else this.dropped += 1;
  }

  drain(): readonly WriteBatch[] {
    const batch: NamedEntry<Entry>[] = [];
    for (const named of this.#entries) {
      if (batch.length === rowsPerBatch * batchesPerFlush) break;
      batch.push(named);
    }
    for (const [name] of batch) this.#entries.delete(name);
    // Processes that write the same rows in the same order do not wait for each other's end.
    batch.sort(([one], [other]) => (one < other ? -1 : 1));
    const starts = Array.from({ length: Math.ceil(batch.length / rowsPerBatch) }, (_, n) => n * rowsPerBatch);
    return starts.map((start) => this.#batch(batch.slice(start, start + rowsPerBatch)));
  }

  #batch(some: readonly NamedEntry<Entry>[]): WriteBatch {
    const { write, rowOf } = this.#options;
    const rows = some.map(([, entry]) => rowOf(entry));
    return {
      write: (session) => write(session, rows),
      restore: () => {
        for (const [name, entry] of some) this.add(name, entry);
      },
      halves: () => halvesOf(some).map((half) => this.#batch(half)),
    };
  }
}

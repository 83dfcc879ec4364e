// Rows that add up in memory until they are written: one entry for each name, however often it is met.

import type { ColumnRow, WriteRows } from "./many-rows.ts";
import { type Gathering, halvesOf, type Piece } from "./write-behind.ts";

/** Entries kept in memory; beyond that, only those that are there already add up. */
const mostEntries = 50_000;
/** Rows of one transaction, and transactions of one flush; what is left goes on adding up until the next. */
const rowsOfPiece = 250;
const piecesOfFlush = 20;

export interface TallyOptions<Entry> {
  /** Adds what an entry holds to the one of the same name. */
  readonly merge: (known: Entry, more: Entry) => void;
  readonly rowOf: (entry: Entry) => ColumnRow;
  readonly write: WriteRows;
}

type Named<Entry> = readonly [name: string, entry: Entry];

export class Tally<Entry> implements Gathering {
  readonly #options: TallyOptions<Entry>;
  readonly #entries = new Map<string, Entry>();
  /** How many entries there was no room for. */
  refused = 0;

  constructor(options: TallyOptions<Entry>) {
    this.#options = options;
  }

  add(name: string, entry: Entry): void {
    const known = this.#entries.get(name);
    if (known !== undefined) this.#options.merge(known, entry);
    else if (this.#entries.size < mostEntries) this.#entries.set(name, entry);
    else this.refused += 1;
  }

  take(): readonly Piece[] {
    const taken: Named<Entry>[] = [];
    for (const named of this.#entries) {
      if (taken.length === rowsOfPiece * piecesOfFlush) break;
      taken.push(named);
    }
    for (const [name] of taken) this.#entries.delete(name);
    // Processes that write the same rows in the same order do not wait for each other's end.
    taken.sort(([one], [other]) => (one < other ? -1 : 1));
    const starts = Array.from({ length: Math.ceil(taken.length / rowsOfPiece) }, (_, n) => n * rowsOfPiece);
    return starts.map((start) => this.#piece(taken.slice(start, start + rowsOfPiece)));
  }

  #piece(some: readonly Named<Entry>[]): Piece {
    const { write, rowOf } = this.#options;
    const rows = some.map(([, entry]) => rowOf(entry));
    return {
      write: (session) => write(session, rows),
      giveBack: () => {
        for (const [name, entry] of some) this.add(name, entry);
      },
      halves: () => halvesOf(some).map((half) => this.#piece(half)),
    };
  }
}

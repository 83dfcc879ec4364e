// An import from its first line to its last: reads the body, and writes groups of lines.

import type { Caller } from "../declare/caller.ts";
import { Problem } from "../errors.ts";
import { TimeSlice } from "../lib/time-slice.ts";
import type { ImportedLine, LineParser } from "./imported-line.ts";
import { ImportOutcome } from "./outcome.ts";
import type { RowImport } from "./row-import.ts";

/** A group also ends where its lines have this many bytes, roughly: they are in memory. */
const maxGroupBytes = 1024 * 1024;
const maxGroupLines = 250;
/** How much is parsed without a break. */
const partBytes = 16 * 1024;
export const maxAtomicLines = 10_000;
export const maxAtomicBytes = 16 * 1024 * 1024;

/** Where the lines come from. */
export interface ImportSource {
  /** @returns undefined at the end @throws Problem to end the import */
  next(): Promise<Buffer | undefined>;
}

export interface ImportRunOptions {
  readonly source: ImportSource;
  readonly parser: LineParser;
  readonly rows: RowImport;
  readonly isAtomic: boolean;
  /** Called before each group: the caller, whose rights may have changed. @throws Problem to end the import */
  readonly currentCaller: () => Promise<Caller>;
}

export class ImportRun {
  readonly outcome = new ImportOutcome();
  readonly #options: ImportRunOptions;
  #lines: ImportedLine[] = [];
  #bytes = 0;

  constructor(options: ImportRunOptions) {
    this.#options = options;
  }

  /** Runs the import. Yields after each group. An error of the API ends it, and is part of the outcome. */
  async *run(): AsyncGenerator<ImportOutcome, void> {
    try {
      yield* this.#groups();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.outcome.stoppedBy = error;
    }
  }

  async *#groups(): AsyncGenerator<ImportOutcome, void> {
    const { source, isAtomic } = this.#options;
    for (;;) {
      const chunk = await source.next();
      for await (const line of this.#linesOf(chunk)) {
        this.#lines.push(line);
        if (isAtomic || this.#lines.length < maxGroupLines) continue;
        await this.#write();
        yield this.outcome;
      }
      if (isAtomic) this.#requireWithinBounds();
      const isLargeGroup = !isAtomic && this.#bytes >= maxGroupBytes;
      // Without lines, it makes those who send only line breaks pay as well.
      if (isLargeGroup || (!chunk && this.#lines.length > 0)) {
        await this.#write();
        yield this.outcome;
      }
      if (!chunk) return;
    }
  }

  /** The lines that are complete with a chunk, or at the end of the body. */
  async *#linesOf(chunk: Buffer | undefined): AsyncGenerator<ImportedLine, void> {
    const { parser } = this.#options;
    if (!chunk) return yield* parser.end();
    const slice = new TimeSlice();
    for (let at = 0; at < chunk.length; at += partBytes) {
      const part = chunk.subarray(at, at + partBytes);
      this.#bytes += part.length;
      yield* parser.push(part);
      if (slice.isOver) await slice.yield();
    }
  }

  async #write(): Promise<void> {
    const { rows, currentCaller } = this.#options;
    const lines = this.#lines;
    this.#lines = [];
    this.#bytes = 0;
    await rows.write(await currentCaller(), lines, this.outcome);
  }

  /** @throws Problem `payload_too_large` */
  #requireWithinBounds(): void {
    if (this.#lines.length <= maxAtomicLines && this.#bytes <= maxAtomicBytes) return;
    throw new Problem(
      "payload_too_large",
      `An import with atomic=true has at most ${maxAtomicLines} lines and ${maxAtomicBytes / 1024 / 1024} MiB.`,
    );
  }
}

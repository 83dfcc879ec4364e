// An import from its first line to its last: reads the body, and writes groups of lines.

import type { Caller } from "../declare/caller.ts";
import { Problem } from "../errors.ts";
import type { ImportedLine, LineParser } from "./imported-line.ts";
import { ImportOutcome } from "./outcome.ts";
import type { RowImport } from "./row-import.ts";

/** A group also ends where its lines have this many bytes, roughly: they are in memory. */
const maxGroupBytes = 1024 * 1024;
const maxGroupLines = 250;
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
    const { source, parser, isAtomic } = this.#options;
    for (;;) {
      const chunk = await source.next();
      this.#bytes += chunk?.length ?? 0;
      for (const line of chunk ? parser.push(chunk) : parser.end()) {
        this.#lines.push(line);
        if (isAtomic || this.#lines.length < maxGroupLines) continue;
        await this.#write();
        yield this.outcome;
      }
      if (isAtomic) this.#requireWithinBounds();
      const isLargeGroup = !isAtomic && this.#bytes >= maxGroupBytes;
      if (this.#lines.length > 0 && (!chunk || isLargeGroup)) {
        await this.#write();
        yield this.outcome;
      }
      if (!chunk) return;
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

// An export in progress: its slot, its rows and its time. It has its slot until its statement has ended.

import { Problem } from "../errors.ts";
import { maxStreamMs, type RowStream } from "../store/row-stream.ts";

export interface RunningExportOptions {
  /** Frees the slot. */
  readonly free: () => void;
  /** Called when the time is over. */
  readonly onTimeout: (error: Problem) => void;
  /** How long the export may run. */
  readonly maxMs?: number | undefined;
}

export class RunningExport {
  readonly #free: () => void;
  readonly #timeout: NodeJS.Timeout;
  readonly #end = new AbortController();
  #rows: Promise<RowStream> | undefined;

  constructor({ free, onTimeout, maxMs = maxStreamMs }: RunningExportOptions) {
    this.#free = free;
    this.#timeout = setTimeout(() => {
      onTimeout(
        new Problem("unavailable", "The export took too long. Continue after its last row with `after`."),
      );
      this.close();
    }, maxMs);
  }

  /** Aborted when the export ends. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** @throws Problem */
  open(open: (signal: AbortSignal) => Promise<RowStream>): Promise<RowStream> {
    this.#rows = open(this.signal);
    return this.#rows;
  }

  /** Ends the statement. */
  close(): void {
    if (this.signal.aborted) return;
    clearTimeout(this.#timeout);
    this.#end.abort();
    // handled: both outcomes free the slot.
    void this.#closeRows().then(this.#free, this.#free);
  }

  async #closeRows(): Promise<void> {
    const rows = await this.#rows;
    rows?.close();
    await rows?.ended;
  }
}

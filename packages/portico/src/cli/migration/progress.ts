// The progress of long steps of a migration: on a terminal a line that is updated, otherwise a line every few seconds.

/** Milliseconds between two reports. */
const intervals = { terminal: 100, file: 3_000 };

/** Writes to standard error, so that the output of the command can be processed. */
export class MigrationProgress {
  readonly #output: Pick<NodeJS.WriteStream, "isTTY" | "write">;
  #reportedAt = performance.now();
  #hasLine = false;

  constructor(output: Pick<NodeJS.WriteStream, "isTTY" | "write"> = process.stderr) {
    this.#output = output;
  }

  /** @param step what is done, as an SQL comment */
  report(step: string, done: number, total: number): void {
    const { isTTY } = this.#output;
    const isComplete = done >= total;
    if (
      performance.now() - this.#reportedAt < (isTTY ? intervals.terminal : intervals.file) &&
      !(isTTY && isComplete)
    )
      return;
    this.#reportedAt = performance.now();
    const percent = total === 0 ? 100 : Math.floor((100 * done) / total);
    const line = `${step.replace(/^-- /, "")}: ${done} of ${total} (${percent} %)`;
    this.#output.write(isTTY ? `\r\x1b[2K${line}` : `${line}\n`);
    this.#hasLine = isTTY;
  }

  /** Ends the line that is updated. */
  end(): void {
    if (this.#hasLine) this.#output.write("\n");
    this.#hasLine = false;
  }
}

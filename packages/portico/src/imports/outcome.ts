// What came of the lines of an import.

import type { Problem } from "../errors.ts";

/** Errors that an answer has; all are counted. */
const maxErrors = 100;

/** What the answer has of an error. A problem may have many times as much. */
interface LineError {
  readonly line: number;
  readonly error: Pick<Problem, "code" | "message" | "details">;
}

export class ImportOutcome {
  created = 0;
  updated = 0;
  failed = 0;
  readonly errors: LineError[] = [];
  /** Why the import ended before its last line. */
  stoppedBy: Problem | undefined;

  /** Lines that were read. */
  get lines(): number {
    return this.created + this.updated + this.failed;
  }

  fail(line: number, problem: Problem): void {
    this.failed += 1;
    if (this.errors.length === maxErrors) return;
    const { code, message, details } = problem;
    this.errors.push({ line, error: { code, message, details } });
  }

  add({ created, updated, failed, errors }: ImportOutcome): void {
    this.created += created;
    this.updated += updated;
    this.failed += failed;
    this.errors.push(...errors.slice(0, maxErrors - this.errors.length));
  }

  /** The same if none of the lines took effect. */
  undone(): ImportOutcome {
    const undone = new ImportOutcome();
    undone.failed = this.lines;
    undone.errors.push(...this.errors);
    undone.stoppedBy = this.stoppedBy;
    return undone;
  }

  /** 200 where any line took effect, or there was none; 422 where all were refused; or that of the error that ended it. */
  get status(): number {
    if (this.stoppedBy) return this.stoppedBy.status;
    return this.failed > 0 && this.failed === this.lines ? 422 : 200;
  }

  toText(): string {
    const { created, updated, failed, errors } = this;
    const error = this.#error();
    return JSON.stringify({ ...(error && { error }), created, updated, failed, errors });
  }

  #error(): object | undefined {
    if (this.stoppedBy) {
      const { code, message, details } = this.stoppedBy;
      return { code, message: `${message} The import ended early; the counts say what it did.`, details };
    }
    if (this.status === 200) return undefined;
    return { code: "validation_error", message: "No line was imported; see errors.", details: [] };
  }
}

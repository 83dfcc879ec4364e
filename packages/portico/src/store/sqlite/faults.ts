// Faults of the database file: a full disk, or a missing, read-only or damaged file. Each is logged at most once a minute;
// requests that encounter it are refused.

import { LoggedProblem, Problem } from "../../errors.ts";
import type { Report } from "../../lib/report.ts";
import { MissingSchema } from "../database.ts";
import type { DatabaseFile } from "./database-file.ts";

/** How often to check that the path still names the open file. Writes check it themselves. */
const checkIntervalMs = 250;

/** An almost full disk accepts some writes and refuses others; without this pause, its fault would be logged again and again. */
const reportIntervalMs = 60_000;

/** Log messages by primary result code (sqlite.org/rescode.html). */
const messages: ReadonlyMap<number, string> = new Map([
  [8, "the database cannot be written: it is read-only"],
  [10, "the database cannot be read or written: the disk fails"],
  [11, "the database is damaged: stop the server and restore a backup"],
  [13, "the database cannot be written: the disk is full"],
  [14, "the database cannot be opened"],
  [26, "the database is damaged: stop the server and restore a backup"],
]);
const notNull = 1299;

const fileMoved =
  "the database file was moved, removed or replaced while it was open; requests are refused until it is restored. To use the file that is there now, restart the server";

export class Faults {
  readonly #file: DatabaseFile;
  readonly #report: Report;
  readonly #timer: NodeJS.Timeout;
  /** When each result code was last logged. */
  readonly #reportedAt = new Map<number, number>();
  #isMissing = false;

  constructor(file: DatabaseFile, report: Report) {
    this.#file = file;
    this.#report = report;
    this.#timer = setInterval(() => this.#check(), checkIntervalMs).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** @throws Problem `unavailable` while the path does not name the open file */
  requireFile(): void {
    if (this.#isMissing) throw new LoggedProblem("unavailable");
  }

  /** The error for a request. A fault of the file becomes a problem that is not logged again. */
  problemOf(error: unknown): unknown {
    if (error instanceof MovedFile) {
      this.#check();
      return new LoggedProblem("unavailable", error.message);
    }
    // The schema was valid at the start: a newer version has changed it since, or somebody has done so by hand.
    if (error instanceof MissingSchema) return new Problem("unavailable", undefined, [], {}, error);
    const cause = error instanceof Problem ? error.cause : error;
    const errcode = cause instanceof Error && "errcode" in cause ? Number(cause.errcode) : 0;
    if (errcode === notNull) return new Problem("unavailable", undefined, [], {}, error);
    const code = errcode & 0xff;
    const message = messages.get(code);
    if (message === undefined) return error;
    const now = performance.now();
    if (now - (this.#reportedAt.get(code) ?? Number.NEGATIVE_INFINITY) >= reportIntervalMs) {
      this.#reportedAt.set(code, now);
      this.#report(message, { file: this.#file.path, err: cause });
    }
    return new LoggedProblem("unavailable", undefined, [], {}, cause);
  }

  #check(): void {
    const isMissing = !this.#file.isInPlace();
    if (isMissing === this.#isMissing) return;
    this.#isMissing = isMissing;
    const file = this.#file.path;
    this.#report(isMissing ? fileMoved : "the database file is restored", { file });
  }
}

/** The path no longer names the open file. */
export class MovedFile extends Error {
  override readonly name = "MovedFile";

  constructor(isCommitted: boolean) {
    const outcome = isCommitted ? "The write may or may not have been applied." : "Nothing was written.";
    super(`The database file was moved or replaced. ${outcome}`);
  }
}

// Faults of the database's file: a disk that is full, a file that is gone, read-only or damaged. Each is logged once
// a minute, and requests that meet it are refused.

import { LoggedProblem, Problem } from "../../errors.ts";
import type { Report } from "../../lib/report.ts";
import { MissingSchema } from "../database.ts";
import type { DatabaseFile } from "./database-file.ts";

/** How often it is looked whether the file is in its place; writes look by themselves. */
const watchEveryMs = 250;

/** A disk that is almost full takes some writes and refuses others. */
const betweenReportsMs = 60_000;

/** Primary result codes (sqlite.org/rescode.html) and what to say of them. */
const told: ReadonlyMap<number, string> = new Map([
  [8, "the database cannot be written: it is read-only"],
  [10, "the database cannot be read or written: the disk fails"],
  [11, "the database is damaged: stop the server and restore a backup"],
  [13, "the database cannot be written: the disk is full"],
  [14, "the database cannot be opened"],
  [26, "the database is damaged: stop the server and restore a backup"],
]);
const notNull = 1299;

const fileIsAway =
  "the database file was moved, removed or replaced while it was open; requests are refused until it is back. To use the file that is there now, start the server again";

export class Faults {
  readonly #file: DatabaseFile;
  readonly #report: Report;
  readonly #timer: NodeJS.Timeout;
  /** Result code -> when it was logged last. */
  readonly #reportedAt = new Map<number, number>();
  #isAway = false;

  constructor(file: DatabaseFile, report: Report) {
    this.#file = file;
    this.#report = report;
    this.#timer = setInterval(() => this.#look(), watchEveryMs).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** @throws Problem `unavailable` while the file is not in its place */
  requireFile(): void {
    if (this.#isAway) throw new LoggedProblem("unavailable");
  }

  /** The error of a request: one that was logged already where it comes from the file. */
  problemOf(error: unknown): unknown {
    if (error instanceof MovedFile) {
      this.#look();
      return new LoggedProblem("unavailable", error.message);
    }
    // The schema was right at the start: a newer version, or somebody by hand, has changed it.
    if (error instanceof MissingSchema) return new Problem("unavailable", undefined, [], {}, error);
    const cause = error instanceof Problem ? error.cause : error;
    const errcode = cause instanceof Error && "errcode" in cause ? Number(cause.errcode) : 0;
    if (errcode === notNull) return new Problem("unavailable", undefined, [], {}, error);
    const code = errcode & 0xff;
    const message = told.get(code);
    if (message === undefined) return error;
    const now = performance.now();
    if (now - (this.#reportedAt.get(code) ?? Number.NEGATIVE_INFINITY) >= betweenReportsMs) {
      this.#reportedAt.set(code, now);
      this.#report(message, { file: this.#file.path, err: cause });
    }
    return new LoggedProblem("unavailable", undefined, [], {}, cause);
  }

  #look(): void {
    const isAway = !this.#file.isInPlace();
    if (isAway === this.#isAway) return;
    this.#isAway = isAway;
    const file = this.#file.path;
    this.#report(isAway ? fileIsAway : "the database file is back", { file });
  }
}

/** The open file is not that of the path. */
export class MovedFile extends Error {
  override readonly name = "MovedFile";

  constructor(isCommitted: boolean) {
    const outcome = isCommitted ? "The write may or may not have been applied." : "Nothing was written.";
    super(`The database file was moved or replaced. ${outcome}`);
  }
}

// Logs: JSON lines, pretty on a terminal. Whatever a line is made of, credentials do not leave in it.

import { type DestinationStream, type Logger, pino } from "pino";
import type { LogLevel } from "./log-level.ts";

export type { Logger } from "pino";

/** API keys, bearer tokens and JSON Web Tokens, wherever they stand in a line; the first group tells which. */
const credentials = /((?:sk|pk)_(?:test|live)_|[Bb]earer\s+|eyJ)[\w.~+/=-]+/g;
/** What every credential has in it: a line without these is not searched further. */
const marks = ["k_test_", "k_live_", "earer", "eyJ"];

/** A line without credentials: `sk_test_[redacted]` tells of what kind one was. */
export function redacted(line: string): string {
  return marks.some((mark) => line.includes(mark)) ? line.replace(credentials, "$1[redacted]") : line;
}

export interface Log {
  readonly logger: Logger;
  /** Writes lines of the level `info` that were made, and `redacted`, elsewhere; undefined where they are left out. */
  readonly writeLines: ((lines: string) => void) | undefined;
  /** Writes what is still held back. */
  flush(): Promise<void>;
}

/** Lines on standard output. They are gathered and written in pieces of 16 kB, or after a quarter of a second. */
export async function createLog(level: LogLevel): Promise<Log> {
  const destination = process.stdout.isTTY
    ? await prettyLines()
    : pino.destination({ fd: 1, sync: false, minLength: 16_000, periodicFlush: 250 });
  const logger = pino({ level, base: undefined, hooks: { streamWrite: redacted } }, destination);
  return {
    logger,
    writeLines: logger.isLevelEnabled("info") ? (lines) => destination.write(lines) : undefined,
    flush: () => new Promise((resolve) => logger.flush(() => resolve())),
  };
}

/** For a terminal; what is not looked at there is not loaded elsewhere. */
async function prettyLines(): Promise<DestinationStream> {
  const { default: pretty } = await import("pino-pretty");
  return pretty({ colorize: true, ignore: "pid,hostname", sync: true });
}

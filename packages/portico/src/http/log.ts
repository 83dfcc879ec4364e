// Logs: JSON lines, pretty on a terminal. Whatever a line is made of, credentials do not leave in it.

import { type DestinationStream, type Logger, pino } from "pino";
import { redacted } from "../declare/redacted.ts";
import type { LogLevel } from "./log-level.ts";

export type { Logger } from "pino";

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

// Logs: JSON lines, pretty on a terminal. Whatever a line is made of, credentials do not leave in it.

import { type DestinationStream, type Logger, pino } from "pino";
import { redactCredentials } from "../../lib/redact-credentials.ts";
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
  const isTerminal = process.stdout.isTTY;
  const destination = isTerminal
    ? await prettyLines()
    : pino.destination({ fd: 1, sync: false, minLength: 16_000, periodicFlush: 250 });
  const logger = pino({ level, base: undefined, hooks: { streamWrite: redactCredentials } }, destination);
  return {
    logger,
    writeLines: logger.isLevelEnabled("info")
      ? (lines) => destination.write(isTerminal ? withoutKeyUses(lines) : lines)
      : undefined,
    flush: () => new Promise((resolve) => logger.flush(() => resolve())),
  };
}

/** On a terminal each request is one line, so that the use of its key is left out. */
function withoutKeyUses(lines: string): string {
  return lines
    .split("\n")
    .filter((line) => !line.endsWith('"msg":"api_key.used"}'))
    .join("\n");
}

/** For a terminal; elsewhere the package is not loaded. */
async function prettyLines(): Promise<DestinationStream> {
  const { default: pretty } = await import("pino-pretty");
  return pretty({
    colorize: true,
    singleLine: true,
    translateTime: "SYS:HH:MM:ss.l",
    ignore: "pid,hostname",
    messageFormat: ({ msg, method, path, status, durationMs }) =>
      msg === "request" ? `${method} ${path} ${status} ${durationMs} ms` : String(msg),
    sync: true,
  });
}

// Logs: JSON lines, formatted for reading on a terminal. Credentials are redacted in every line.

import { type DestinationStream, type Logger, pino } from "pino";
import { redactCredentials } from "../../lib/redact-credentials.ts";
import type { LogLevel } from "./log-level.ts";

export type { Logger } from "pino";

/** Receives JSON lines, one or more at once, each ended by a newline: `process.stdout`, for example. */
export type LogDestination = DestinationStream;

export interface Log {
  readonly logger: Logger;
  /** Writes finished lines of the level `info`, already redacted; undefined if that level is not logged. */
  readonly writeLines: ((lines: string) => void) | undefined;
  /** Writes all buffered lines. */
  flush(): Promise<void>;
}

/** @param destination receives the lines; without one nothing is logged */
export function createLog(level: LogLevel, destination: LogDestination | undefined): Log {
  const hooks = { streamWrite: redactCredentials };
  const options = { level: destination ? level : "silent", base: undefined, hooks };
  const logger = destination ? pino(options, destination) : pino(options);
  return {
    logger,
    writeLines:
      destination && logger.isLevelEnabled("info") ? (lines) => destination.write(lines) : undefined,
    flush: () => new Promise((resolve) => logger.flush(() => resolve())),
  };
}

/** Standard output: formatted on a terminal, otherwise JSON lines, written every 16 kB or quarter of a second. */
export async function standardOutput(): Promise<LogDestination> {
  if (!process.stdout.isTTY)
    return pino.destination({ fd: 1, sync: false, minLength: 16_000, periodicFlush: 250 });
  const terminal = await prettyLines();
  return { write: (lines) => terminal.write(withoutKeyUses(lines)) };
}

/** Removes the lines for uses of keys: on a terminal a request is one line. */
function withoutKeyUses(lines: string): string {
  return lines
    .split("\n")
    .filter((line) => !line.endsWith('"msg":"api_key.used"}'))
    .join("\n");
}

/** Formats lines for a terminal. The package is loaded only there. */
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

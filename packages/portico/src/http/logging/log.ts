// Logs: JSON lines, pretty on a terminal. Whatever a line is made of, credentials do not leave in it.

import { type DestinationStream, type Logger, pino } from "pino";
import { redactCredentials } from "../../lib/redact-credentials.ts";
import type { LogLevel } from "./log-level.ts";

export type { Logger } from "pino";

/** Takes JSON lines, one or several at once, each ended by a newline: `process.stdout`, for example. */
export type LogDestination = DestinationStream;

export interface Log {
  readonly logger: Logger;
  /** Writes lines of the level `info` that were made, and `redacted`, elsewhere; undefined where they are left out. */
  readonly writeLines: ((lines: string) => void) | undefined;
  /** Writes what is still held back. */
  flush(): Promise<void>;
}

/** @param destination where lines are written; without one nothing is logged */
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

/** Standard output: pretty on a terminal, elsewhere JSON lines, written in pieces of 16 kB or every quarter of a second. */
export async function standardOutput(): Promise<LogDestination> {
  if (!process.stdout.isTTY)
    return pino.destination({ fd: 1, sync: false, minLength: 16_000, periodicFlush: 250 });
  const terminal = await prettyLines();
  return { write: (lines) => terminal.write(withoutKeyUses(lines)) };
}

/** On a terminal a request is one line, so the use of its key is left out. */
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

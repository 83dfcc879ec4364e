// Logs: JSON lines, formatted for reading on a terminal. Credentials are redacted in every line.

import { type DestinationStream, type Logger, pino } from "pino";
import { redactCredentials } from "../../lib/redact-credentials.ts";
import type { LogLevel } from "./log-level.ts";
import { terminalLine } from "./terminal-line.ts";

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

/** Fastify logs the reply where a connection breaks, which has all headers of the request: cookies, for example. */
const serializers = {
  res: ({ statusCode }: { readonly statusCode?: unknown }) => ({ statusCode }),
};

/** @param destination receives the lines; without one nothing is logged */
export function createLog(level: LogLevel, destination: LogDestination | undefined): Log {
  const hooks = { streamWrite: redactCredentials };
  const options = { level: destination ? level : "silent", base: undefined, hooks, serializers };
  const logger = destination ? pino(options, destination) : pino(options);
  return {
    logger,
    writeLines:
      destination && logger.isLevelEnabled("info") ? (lines) => destination.write(lines) : undefined,
    flush: () => new Promise((resolve) => logger.flush(() => resolve())),
  };
}

/** Standard output: formatted on a terminal, otherwise JSON lines, written every 16 kB or quarter of a second. */
export function standardOutput(): LogDestination {
  if (!process.stdout.isTTY)
    return pino.destination({ fd: 1, sync: false, minLength: 16_000, periodicFlush: 250 });
  return { write: (lines) => process.stdout.write(withoutKeyUses(lines).replaceAll(/.+/g, terminalLine)) };
}

/** Removes the lines for uses of keys: on a terminal a request is one line. */
function withoutKeyUses(lines: string): string {
  return lines
    .split("\n")
    .filter((line) => !line.endsWith('"msg":"api_key.used"}'))
    .join("\n");
}

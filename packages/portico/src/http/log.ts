// Logs: JSON lines, pretty on a terminal. Whatever a line is made of, credentials do not leave in it.

import { type DestinationStream, type Logger, pino } from "pino";
import pretty from "pino-pretty";

export type { Logger } from "pino";

export const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** API keys, bearer tokens and JSON Web Tokens, wherever they stand in a line; the first group tells which. */
const credentials = /((?:sk|pk)_(?:test|live)_|[Bb]earer\s+|eyJ)[\w.~+/=-]+/g;
/** What every credential has in it: a line without these is not searched further. */
const marks = ["k_test_", "k_live_", "earer", "eyJ"];

/** A line without credentials: `sk_test_[redacted]` tells of what kind one was. */
export function redacted(line: string): string {
  return marks.some((mark) => line.includes(mark)) ? line.replace(credentials, "$1[redacted]") : line;
}

/** Lines are gathered and written together; `flush` writes what is left. */
export function createLog(level: LogLevel, stream: NodeJS.WriteStream = process.stdout): Logger {
  const destination: DestinationStream = stream.isTTY
    ? pretty({ colorize: true, ignore: "pid,hostname", sync: true })
    : pino.destination({ fd: 1, sync: false, minLength: 16_000, periodicFlush: 250 });
  return pino({ level, base: undefined, hooks: { streamWrite: redacted } }, destination);
}

/** Writes what is still held back. */
export async function flushLog(log: Logger): Promise<void> {
  await new Promise<void>((resolve) => log.flush(() => resolve()));
}

// Ends the process: on a signal, or after an uncaught exception.

import { safeError } from "../lib/safe-error.ts";
import type { PorticoServer } from "../server.ts";
import { RejectionLog } from "./rejection-log.ts";

/** The process exits after this time, whatever is still in progress; longer than requests and emails may take. */
const shutdownTimeoutMs = 30_000;
const signals = ["SIGTERM", "SIGINT"] as const;

/**
 * Closes the server on SIGTERM and SIGINT (exit code 0) and after an uncaught exception (exit code 1), which leaves the
 * process in an unknown state. A second signal ends the process at once. An unhandled rejection affects nothing else: it
 * is logged, and the process continues.
 *
 * @returns closes the server and ends the process with this exit code
 */
export function handleProcessEvents(server: PorticoServer): (exitCode: number) => void {
  const { logger } = server.log;
  let isStopping = false;
  const stop = (exitCode: number): void => {
    for (const signal of signals) process.off(signal, stopOnSignal);
    if (isStopping) return;
    isStopping = true;
    setTimeout(() => process.exit(1), shutdownTimeoutMs).unref();
    server.close().then(
      () => process.exit(exitCode),
      (err) => {
        logger.fatal({ err }, "the server could not stop in order");
        logger.flush(() => process.exit(1));
      },
    );
  };
  const stopOnSignal = (signal: string): void => {
    logger.info({ signal }, "stopping");
    stop(0);
  };
  for (const signal of signals) process.on(signal, stopOnSignal);
  const rejections = new RejectionLog(logger);
  process.on("unhandledRejection", (reason) => rejections.add(reason));
  process.on("uncaughtException", (error) => {
    logger.fatal({ err: safeError(error) }, "uncaught exception: stopping");
    stop(1);
  });
  return stop;
}

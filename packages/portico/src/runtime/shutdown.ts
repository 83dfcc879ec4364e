// Ending the process: on a signal, or after an exception that nobody caught.

import type { FastifyInstance } from "fastify";
import type { Log } from "../http/logging/log.ts";
import type { Store } from "../store/store.ts";
import type { Background } from "./background.ts";
import type { Recording } from "./recording.ts";
import { RejectionLog, safeError } from "./rejection-log.ts";

/** How long requests that are under way may take. */
const requestTimeoutMs = 10_000;
/** After this the process ends whatever is still under way; longer than requests and mails may take. */
const shutdownTimeoutMs = 30_000;
const closeIdleIntervalMs = 20;
const signals = ["SIGTERM", "SIGINT"] as const;

/** What a running server consists of. */
export interface Running {
  readonly server: FastifyInstance;
  readonly background: Background;
  readonly recording: Recording;
  readonly store: Store;
  readonly log: Log;
}

/**
 * Stops the server in order on SIGTERM and SIGINT (exit code 0) and after an uncaught exception (exit code 1), which
 * leaves the process in an unknown state. A second signal ends the process at once. A rejection that nobody handled
 * says nothing of the state of others: it is logged, and the process goes on.
 */
export function handleProcessEvents(running: Running): void {
  const { logger } = running.log;
  let isStopping = false;
  const stop = (exitCode: number): void => {
    for (const signal of signals) process.off(signal, stopOnSignal);
    if (isStopping) return;
    isStopping = true;
    setTimeout(() => process.exit(1), shutdownTimeoutMs).unref();
    shutDown(running).then(
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
}

/** Stops accepting, finishes what is under way, writes what is left. */
async function shutDown({ server, background, recording, store, log }: Running): Promise<void> {
  const timeout = setTimeout(() => server.server.closeAllConnections(), requestTimeoutMs);
  // Connections that were busy at first are idle once they are answered.
  const closing = setInterval(() => server.server.closeIdleConnections(), closeIdleIntervalMs);
  await Promise.all([server.close(), background.stop()]);
  clearInterval(closing);
  clearTimeout(timeout);
  await recording.stop();
  await store.database.close();
  log.logger.info("stopped");
  await log.flush();
}

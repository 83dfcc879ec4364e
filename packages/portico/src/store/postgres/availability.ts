// Watches whether the PostgreSQL server can be reached. During an outage requests are refused at once instead of each
// waiting for its own time-out, and a probe checks several times a second whether the outage is over.

import { setImmediate as nextRound, setTimeout as sleep } from "node:timers/promises";
import { LoggedProblem } from "../../errors.ts";
import type { Report } from "../../lib/report.ts";
import type { Connection } from "./connection.ts";

/** How often connections are checked, and how long one may be silent before the server is probed. */
const checkIntervalMs = 200;
const maxSilenceMs = 300;
/** Minimum pause after a successful probe, however slow the statements are. */
const probeIntervalMs = 500;
/** Time limit of a probe. With the two times above, a request waits for less than 2 s before the outage is detected. */
const probeTimeoutMs = 1_100;
/**
 * The interval at which probes start during an outage, even while earlier probes hang: a connection that was started before
 * the server returned may never be answered. With the time limit above, at most five probes run at once.
 */
const outageProbeIntervalMs = 250;

export interface AvailabilityOptions {
  /** Queries the server over a new connection. */
  readonly probe: (signal: AbortSignal) => Promise<void>;
  /** All open connections. */
  readonly connections: () => Iterable<Connection>;
  /** A connection that is silent for longer than any statement may take is considered lost. */
  readonly maxSilentMs: number;
  /** Closes all connections, and rejects all statements that wait for one. */
  readonly disconnect: (refusal: Error) => void;
  readonly report: Report;
}

export class Availability {
  readonly #options: AvailabilityOptions;
  readonly #timer: NodeJS.Timeout;
  #isOut = false;
  #isClosed = false;
  #isProbing = false;
  #reachedAt = Number.NEGATIVE_INFINITY;

  constructor(options: AvailabilityOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#watch(), checkIntervalMs).unref();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  /** @throws Problem `unavailable` during an outage */
  require(): void {
    if (this.#isOut) throw outage();
  }

  /** Checks, after a connection was lost or could not be opened, whether the server can still be reached. */
  suspect(cause: Error): void {
    this.#probeServer(cause).catch((err: unknown) => this.#fail(err));
  }

  #watch(): void {
    const { connections, maxSilentMs } = this.#options;
    for (const connection of connections()) if (connection.silentMs > maxSilentMs) connection.destroy();
    if (performance.now() - this.#reachedAt < probeIntervalMs) return;
    for (const connection of connections())
      if (connection.silentMs > maxSilenceMs) {
        this.suspect(new Error("PostgreSQL does not answer"));
        return;
      }
  }

  async #probeServer(cause: Error): Promise<void> {
    if (this.#isProbing || this.#isClosed) return;
    this.#isProbing = true;
    const { report, disconnect } = this.#options;
    const startedAt = performance.now();
    try {
      if ((await this.#isReached()) || this.#hasAnsweredSince(startedAt)) return;
      this.#isOut = true;
      report("PostgreSQL cannot be reached; requests are refused until it can", { err: cause });
      disconnect(outage(cause));
      await this.#untilReached();
      this.#isOut = false;
      const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
      if (!this.#isClosed) report("PostgreSQL can be reached again", { seconds });
    } finally {
      this.#isProbing = false;
    }
  }

  /** Resolves when a probe succeeds or the database is closed. */
  #untilReached(): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearInterval(timer);
        resolve();
      };
      const timer = setInterval(() => {
        if (this.#isClosed) end();
        // handled: `#isReached` resolves with false if a probe fails.
        else void this.#isReached().then((isReached) => isReached && end());
      }, outageProbeIntervalMs).unref();
    });
  }

  #fail(err: unknown): void {
    this.#options.report("PostgreSQL cannot be watched", { err });
  }

  /** A server that is slow to accept new connections may still serve the existing ones. */
  #hasAnsweredSince(startedAt: number): boolean {
    return [...this.#options.connections()].some(({ answeredAt }) => answeredAt > startedAt);
  }

  async #isReached(): Promise<boolean> {
    const finished = new AbortController();
    const success = this.#options.probe(finished.signal).then(
      () => true,
      () => false,
    );
    const timeout = sleep(probeTimeoutMs, undefined, { ref: false, signal: finished.signal })
      // If this process was busy, the answer may be waiting to be read.
      .then(() => nextRound())
      .then(() => nextRound())
      .then(
        () => false,
        () => false,
      );
    const isReached = await Promise.race([success, timeout]);
    finished.abort();
    if (isReached) this.#reachedAt = performance.now();
    return isReached;
  }
}

/** Refuses a request during an outage. The outage itself is logged once. */
function outage(cause?: Error): LoggedProblem {
  return new LoggedProblem("unavailable", "The database cannot be reached. Try again.", [], {}, cause);
}

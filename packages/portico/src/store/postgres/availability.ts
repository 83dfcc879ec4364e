// Whether the server can be reached. Once it cannot, requests are refused at once instead of waiting for it one by one;
// a probe looks several times a second whether it is back.

import { setImmediate as nextRound, setTimeout as sleep } from "node:timers/promises";
import { LoggedProblem } from "../../errors.ts";
import type { Report } from "../../lib/report.ts";
import type { Connection } from "./connection.ts";

/** How often connections are looked at, and how long one may answer nothing before the server is probed. */
const watchEveryMs = 200;
const quietMs = 300;
/** A server that answered a probe is not asked again so soon, however slow the statements are. */
const probeEveryMs = 500;
/** A probe that takes longer than this has failed. With the times above, a request waits for less than 2 s. */
const probeLimitMs = 1_100;
/**
 * During an outage, probes begin so long after one another, also while those before hang: a connection that was begun
 * before the server came back may never be answered. With the limit above, five are under way at most.
 */
const betweenProbesMs = 250;

export interface AvailabilityOptions {
  /** Asks the server something over a connection of its own. */
  readonly probe: (signal: AbortSignal) => Promise<void>;
  /** All open connections. */
  readonly connections: () => Iterable<Connection>;
  /** A connection that answers nothing for longer than any statement may take has lost its server. */
  readonly maxQuietMs: number;
  /** Closes all connections and refuses what waits for one. */
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
    this.#timer = setInterval(() => this.#watch(), watchEveryMs).unref();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  /** @throws Problem `unavailable` during an outage */
  require(): void {
    if (this.#isOut) throw outage();
  }

  /** Finds out whether a connection that was lost, or could not be made, means that the server is gone. */
  suspect(cause: Error): void {
    this.#examine(cause).catch((err: unknown) => this.#fail(err));
  }

  #watch(): void {
    const { connections, maxQuietMs } = this.#options;
    for (const connection of connections()) if (connection.quietMs > maxQuietMs) connection.destroy();
    if (performance.now() - this.#reachedAt < probeEveryMs) return;
    for (const connection of connections())
      if (connection.quietMs > quietMs) {
        this.suspect(new Error("PostgreSQL does not answer"));
        return;
      }
  }

  async #examine(cause: Error): Promise<void> {
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

  /** Comes back once a probe was answered, or the database was closed. */
  #untilReached(): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearInterval(timer);
        resolve();
      };
      const timer = setInterval(() => {
        if (this.#isClosed) end();
        // handled: `#isReached` answers with false where a probe fails.
        else void this.#isReached().then((isReached) => isReached && end());
      }, betweenProbesMs).unref();
    });
  }

  #fail(err: unknown): void {
    this.#options.report("PostgreSQL cannot be watched", { err });
  }

  /** A server that is slow to take new connections may serve the others all the while. */
  #hasAnsweredSince(startedAt: number): boolean {
    return [...this.#options.connections()].some(({ answeredAt }) => answeredAt > startedAt);
  }

  async #isReached(): Promise<boolean> {
    const ended = new AbortController();
    const inTime = this.#options.probe(ended.signal).then(
      () => true,
      () => false,
    );
    const tooLate = sleep(probeLimitMs, undefined, { ref: false, signal: ended.signal })
      // Where this process was busy, the answer may have come meanwhile.
      .then(() => nextRound())
      .then(() => nextRound())
      .then(
        () => false,
        () => false,
      );
    const isReached = await Promise.race([inTime, tooLate]);
    ended.abort();
    if (isReached) this.#reachedAt = performance.now();
    return isReached;
  }
}

/** The outage is logged once, by whoever found it. */
function outage(cause?: Error): LoggedProblem {
  return new LoggedProblem("unavailable", "The database cannot be reached. Try again.", [], {}, cause);
}

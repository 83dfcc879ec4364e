// Lets background work yield to requests, with which it shares a thread. While the thread has time to spare, work runs at
// almost any rate; while it has none, at a low one, so that requests lose little and no work waits forever.

import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

export interface PaceOptions {
  /**
   * Units of work a second while the thread has no time to spare, if it has a processor for itself. If other processes
   * use the processors too, it is less, but at least a tenth.
   */
  readonly minRate: number;
  /** Units of work a second at most. */
  readonly maxRate: number;
  /** Measures this thread by default. */
  readonly measure?: () => ThreadUse;
}

/** What a thread has used since it started, and the present time, in milliseconds. */
export interface ThreadUse {
  readonly now: number;
  /** Time in which the event loop did not wait. */
  readonly activeMs: number;
  /** Time on a processor. */
  readonly processorMs: number;
}

/** How long the utilization is measured before the rate changes. */
const windowMs = 100;
/** The rate falls above the first utilization, and rises below the second. */
const highUtilization = 0.8;
const lowUtilization = 0.6;
const fall = 0.5;
const rise = 1.3;
/** Work of this time can start at once. */
const burstMs = 50;
const minShare = 0.1;

/**
 * @example
 * await pace.take(1);
 * await sendOne();
 */
export class Pace {
  readonly #options: Required<PaceOptions>;
  #rate: number;
  /** Units that can start now. Below 0, work waits. */
  #units = 0;
  #refilledAt: number;
  #measured: ThreadUse;
  #last: Promise<void> = Promise.resolve();
  #isEnding = false;

  constructor(options: PaceOptions) {
    this.#options = { measure: measureThread, ...options };
    this.#measured = this.#options.measure();
    this.#refilledAt = this.#measured.now;
    this.#rate = options.maxRate;
  }

  /** Units that can start within a short time. */
  get burst(): number {
    return (this.#rate * burstMs) / 1_000;
  }

  /** Waits until work may start, in the order of the calls, and charges it. */
  take(units: number): Promise<void> {
    // handled: `#wait` does not reject, because its timer has no signal.
    this.#last = this.#last.then(() => this.#wait()).then(() => this.charge(units));
    return this.#last;
  }

  /** Charges work that turned out larger, or less than 0 for work that turned out smaller. Later work waits for it. */
  charge(units: number): void {
    this.#units -= units;
  }

  /** From now on nothing waits. */
  end(): void {
    this.#isEnding = true;
  }

  async #wait(): Promise<void> {
    for (;;) {
      this.#refill();
      if (this.#units > 0 || this.#isEnding) return;
      await sleep(Math.min(windowMs, 1 + (-this.#units * 1_000) / this.#rate));
    }
  }

  #refill(): void {
    const present = this.#options.measure();
    if (present.now - this.#measured.now >= windowMs) this.#adapt(present);
    const added = ((present.now - this.#refilledAt) * this.#rate) / 1_000;
    this.#units = Math.min(this.#units + added, this.burst);
    this.#refilledAt = present.now;
  }

  #adapt(present: ThreadUse): void {
    const { minRate, maxRate } = this.#options;
    const elapsedMs = present.now - this.#measured.now;
    const utilization = (present.activeMs - this.#measured.activeMs) / elapsedMs;
    const share = (present.processorMs - this.#measured.processorMs) / elapsedMs;
    this.#measured = present;
    if (utilization > highUtilization)
      this.#rate = Math.max(minRate * Math.min(1, Math.max(minShare, share)), this.#rate * fall);
    else if (utilization < lowUtilization) this.#rate = Math.min(maxRate, this.#rate * rise);
  }
}

function measureThread(): ThreadUse {
  const { user, system } = process.threadCpuUsage();
  const { active } = performance.eventLoopUtilization();
  return { now: performance.now(), activeMs: active, processorMs: (user + system) / 1_000 };
}

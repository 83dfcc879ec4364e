// Work that a server repeats in the background.

import type { Report } from "../lib/report.ts";

/** Work to repeat. */
export interface PeriodicWork {
  /** For the log: "sending emails" */
  readonly name: string;
  /** Time between the end of one run and the start of the next. */
  readonly intervalMs: number;
  /** Time between `start` and the first run; 0 by default. */
  readonly delayMs?: number;
  /** @param signal aborted by `stop`, so that long work can end early */
  readonly run: (signal: AbortSignal) => Promise<unknown>;
}

/** Runs never overlap. A failed run does not end the task; of consecutive failures only the first one is reported. */
export class PeriodicTask {
  readonly #work: PeriodicWork;
  readonly #report: Report;
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #hasFailed = false;

  constructor(work: PeriodicWork, report: Report) {
    this.#work = work;
    this.#report = report;
  }

  start(): void {
    this.#schedule(this.#work.delayMs ?? 0);
  }

  /** Waits for the current run. No other run starts. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(delayMs: number): void {
    if (this.#stopping.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#runOnce();
    }, delayMs).unref();
  }

  async #runOnce(): Promise<void> {
    const { name, intervalMs, run } = this.#work;
    try {
      await run(this.#stopping.signal);
      this.#hasFailed = false;
    } catch (err) {
      if (!this.#hasFailed) this.#report(`${name} failed; it is tried again`, { err });
      this.#hasFailed = true;
    }
    this.#schedule(intervalMs);
  }
}

// Runs code of a project in the background, for a bounded time.

import { AwaitedResults } from "../lib/awaited-results.ts";
import { safeError } from "../lib/safe-error.ts";

/** How a run ended. */
export type RunOutcome =
  | { readonly status: "succeeded" }
  | { readonly status: "failed"; readonly error: Error }
  /** The server stops. */
  | { readonly status: "interrupted" };

export interface TimedRunOptions {
  readonly timeoutMs: number;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
}

/**
 * Runs some work until it ends, its time is over or the server stops. Work that takes longer cannot be ended: its signal
 * is aborted, and its result is ignored.
 *
 * @param work adds the results of the operations that it is to await; it fails if it does not
 */
export async function runTimed(
  work: (signal: AbortSignal, results: AwaitedResults) => unknown,
  { timeoutMs, stopping }: TimedRunOptions,
): Promise<RunOutcome> {
  const ending = new AbortController();
  const results = new AwaitedResults();
  const ended = Promise.withResolvers<RunOutcome>();
  const end = (outcome: RunOutcome, reason: Error): void => {
    ended.resolve(outcome);
    ending.abort(reason);
  };
  const timer = setTimeout(() => {
    const error = new Error(`it did not end within ${timeoutMs / 1_000} seconds`);
    end({ status: "failed", error }, error);
  }, timeoutMs);
  const stop = (): void => end({ status: "interrupted" }, new Error("the server is being stopped"));
  stopping.addEventListener("abort", stop);
  if (stopping.aborted) stop();
  try {
    const finished = Promise.try(() => work(ending.signal, results))
      .then(() => results.requireAwaited())
      .then(
        (): RunOutcome => ({ status: "succeeded" }),
        (error: unknown): RunOutcome => ({ status: "failed", error: safeError(error) }),
      );
    return await Promise.race([ended.promise, finished]);
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener("abort", stop);
    results.end();
    // What it has started without waiting for it must no longer write.
    ending.abort(new Error("the code that called this has ended; await every operation before it returns"));
  }
}

/** The most of an error that is stored. */
const maxErrorLength = 1_000;

/** `TypeError: x is undefined`; the name of a plain error says nothing. Both databases can store the text. */
export function errorText(error: Error): string {
  const text = error.name === "Error" || error.name === "NonError" ? error.message : String(error);
  return text.slice(0, maxErrorLength).toWellFormed().replaceAll("\0", "\ufffd");
}

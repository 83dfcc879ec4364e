// Results of operations that code of a project has to await. Code that forgets to is told so, and what fails meanwhile is no
// unhandled rejection, which would end the process.

import { safeError } from "./safe-error.ts";

/** A promise that knows whether anybody waits for it. */
class Result<T> extends Promise<T> {
  /** Promises that follow it are plain ones. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  isAwaited = false;
  isPending = true;

  // biome-ignore lint/suspicious/noThenProperty: it is a promise, and remembers who waits.
  override then<Fulfilled = T, Rejected = never>(
    onFulfilled?: ((value: T) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    this.isAwaited = true;
    return super.then(onFulfilled, onRejected);
  }
}

export class AwaitedResults {
  /** Those that nobody is known to wait for: in progress, or failed. */
  readonly #unawaited = new Map<Result<unknown>, unknown>();
  #hasEnded = false;

  /** The result of an operation, to be returned to the code that has begun it. */
  add<T>(operation: Promise<T>): Promise<T> {
    const result = new Result<T>((resolve) => resolve(operation));
    // Nothing is left that can fail with it: its failure is a warning.
    const hasEnded = this.#hasEnded;
    this.#unawaited.set(result, undefined);
    const succeed = (): void => void this.#unawaited.delete(result);
    const fail = (error: unknown): void => {
      result.isPending = false;
      if (result.isAwaited) this.#unawaited.delete(result);
      else if (hasEnded) process.emitWarning(safeError(error));
      else this.#unawaited.set(result, error);
    };
    // handled: of a failure that nobody waits for, `requireAwaited` reports the error.
    void Promise.prototype.then.call(result, succeed, fail);
    return result;
  }

  /** Call it when the code has ended, or failed. */
  end(): void {
    this.#hasEnded = true;
  }

  /** @throws the error of an operation that the code did not await, or an error that says so */
  requireAwaited(): void {
    for (const [result, error] of this.#unawaited) {
      if (result.isAwaited) continue;
      throw result.isPending ? notAwaited() : error;
    }
  }
}

export function notAwaited(): Error {
  return new Error("code ended before an operation that it had begun; await every operation on rows");
}

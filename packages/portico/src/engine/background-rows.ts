// The operations on rows for code that runs apart from any request: each is a transaction of its own.

import type { Caller } from "../declare/caller.ts";
import type { Rows } from "../declare/rows.ts";
import type { AwaitedResults } from "../lib/awaited-results.ts";
import type { Engine } from "./engine.ts";

export interface BackgroundRows {
  readonly rows: Rows;
  /** Runs several operations in one transaction. */
  transaction<Result>(work: (rows: Rows) => Promise<Result>): Promise<Result>;
}

/**
 * The operations on the rows of the caller's tenant, without scopes and policies.
 *
 * @param signal once it is aborted, no further operation begins
 * @param results gets the result of each operation
 */
export function backgroundRows(
  engine: Pick<Engine, "inTransaction">,
  caller: Caller,
  signal: AbortSignal,
  results: AwaitedResults,
): BackgroundRows {
  const run = <Result>(work: (rows: Rows) => Promise<Result>): Promise<Result> => {
    if (signal.aborted) return Promise.reject(signal.reason);
    return engine.inTransaction(caller, async (rows) => {
      const result = await work(rows);
      // What has begun in time and ends too late is rolled back, because it will be done again.
      signal.throwIfAborted();
      return result;
    });
  };
  const transaction: BackgroundRows["transaction"] = (work) => results.add(run(work));
  const rows: Rows = new Proxy({} as Rows, {
    get: (_target, name) => {
      if (name === "unrestricted") return rows;
      // An awaited object is asked for this.
      if (name === "then" || typeof name === "symbol") return undefined;
      return (...args: readonly unknown[]) =>
        transaction(async (each) => {
          const operation = Reflect.get(each, name);
          if (typeof operation !== "function") throw new TypeError(`rows has no operation ${name}`);
          return Reflect.apply(operation, each, args);
        });
    },
  });
  return { rows, transaction };
}

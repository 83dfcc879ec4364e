// The operations on rows for code that only reads: each is a statement of its own, outside a transaction.

import type { Caller } from "../declare/caller.ts";
import type { Rows } from "../declare/rows.ts";
import { codeFailure } from "../model/explained-failures.ts";
import type { Model } from "../model/model.ts";
import type { Store } from "../store/store.ts";
import type { TrackResult } from "./awaited-rows.ts";
import { hookRows } from "./hook-rows.ts";
import type { RowOperations } from "./row-operations.ts";
import { RowReads } from "./row-reads.ts";

/**
 * The rows that the policies of a caller allow. Writes are refused.
 * @param requireOpen throws if the code that reads has ended
 * @param track passes on the result of each operation
 */
export function readRows(
  model: Model,
  store: Store,
  caller: Caller,
  requireOpen: () => void,
  track: TrackResult,
): Rows {
  const refuseWrite = async (): Promise<never> => {
    throw codeFailure(
      model,
      "a route with GET only reads; declare it with POST, PUT, PATCH or DELETE to write",
    );
  };
  const source = {
    ...{ model, caller },
    get store(): Store {
      requireOpen();
      return store;
    },
    session: store.database,
  };
  const rowsOf = (isRestricted: boolean): Rows => {
    const reads = new RowReads(source, isRestricted);
    const operations: RowOperations = {
      get: (...args) => reads.get(...args),
      list: (...args) => reads.list(...args),
      count: (...args) => reads.count(...args),
      first: (...args) => reads.first(...args),
      create: refuseWrite,
      update: refuseWrite,
      updateMany: refuseWrite,
      delete: refuseWrite,
      deleteMany: refuseWrite,
    };
    return hookRows(model, isRestricted ? () => rowsOf(false) : undefined, operations, track);
  };
  return rowsOf(true);
}

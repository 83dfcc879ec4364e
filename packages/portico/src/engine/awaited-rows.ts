// The operations on rows, with results that are known to be awaited or not.

import type { Rows } from "../declare/rows.ts";

/** Passes on the result of an operation. */
export type TrackResult = <T>(operation: Promise<T>) => Promise<T>;

export function awaitedRows(rows: Rows, track: TrackResult): Rows {
  return {
    get unrestricted() {
      return rows.unrestricted;
    },
    get: (...args) => track(rows.get(...args)),
    list: (...args) => track(rows.list(...args)),
    count: (...args) => track(rows.count(...args)),
    first: (...args) => track(rows.first(...args)),
    create: (...args) => track(rows.create(...args)),
    update: (...args) => track(rows.update(...args)),
    updateMany: (...args) => track(rows.updateMany(...args)),
    delete: (...args) => track(rows.delete(...args)),
    deleteMany: (...args) => track(rows.deleteMany(...args)),
  };
}

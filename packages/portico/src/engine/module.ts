import type { Module } from "../runtime/module.ts";
import { deletedRowsRetention } from "./purged-rows.ts";

/** Deletes rows for good that were deleted softly. */
export function engineModule(): Module {
  return { start: async ({ store, model }) => ({ retention: deletedRowsRetention(store, model) }) };
}

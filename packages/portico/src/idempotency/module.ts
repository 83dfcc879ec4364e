import type { Module } from "../runtime/module.ts";
import { idempotencyKeysTable, idempotencyRetention } from "./table.ts";

/** Requests that can be repeated safely, by their Idempotency-Key. */
export function idempotencyModule(): Module {
  return {
    tables: [idempotencyKeysTable],
    start: ({ storedBytes }) => ({ retention: [idempotencyRetention], tasks: [storedBytes.work] }),
  };
}

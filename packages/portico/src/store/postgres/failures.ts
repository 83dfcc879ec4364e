// Translates SQLSTATE codes (PostgreSQL documentation, appendix A) and connection faults into errors of the store.

import { LoggedProblem, Problem } from "../../errors.ts";
import { ConstraintError, MissingSchema } from "../database.ts";
import { endsConnection } from "./connection.ts";

/** SQLSTATE of a reachable server that has no free connection. */
export const tooManyConnections = "53300";

/**
 * @param isWatched whether requests are being served. `Availability` then logs outages, and the schema was valid at the
 * start
 */
export function translateError(error: unknown, isWatched: boolean): unknown {
  const code = codeOf(error);
  if (!(error instanceof Error) || code === undefined) return error;
  if (code === "23503" || code === "23001") return new ConstraintError("reference", [], error);
  // A missing table, column or value: a newer version, or somebody by hand, has changed the schema.
  if (code === "42P01" || code === "42703" || code === "23502")
    return isWatched ? new Problem("unavailable", undefined, [], {}, error) : new MissingSchema(error);
  if (code === "23505") return new ConstraintError("unique", columnsOf(error), error);
  if (isWatched && endsConnection(error)) return new LoggedProblem("unavailable", undefined, [], {}, error);
  return isUnavailable(code) ? new Problem("unavailable", undefined, [], {}, error) : error;
}

/** The connection was lost during the commit, so its outcome is unknown. */
export function unknownOutcome(cause: unknown): Problem {
  const message =
    "The connection to the database was lost while the write was committed. It may or may not have been applied.";
  return new LoggedProblem("unavailable", message, [], {}, cause);
}

/** A statement was sent again after its transaction had ended, which it detected: another attempt may succeed. */
export function rowsGone(): Error {
  return Object.assign(new Error("the transaction ended before its last statement"), { code: "40001" });
}

/**
 * Deadlocks, serialisation failures, and prepared plans that a migration has invalidated. The transaction was rolled back,
 * and the next attempt may succeed.
 */
export function isConcurrencyConflict(error: unknown): boolean {
  const cause = error instanceof Problem ? error.cause : error;
  const code = codeOf(cause);
  if (code === "0A000") return (cause as { routine?: unknown }).routine === "RevalidateCachedQuery";
  return code === "40P01" || code === "40001";
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

/** `Key (tenant_no, "order")=(...) already exists.` */
function columnsOf(error: Error): string[] {
  const detail = "detail" in error ? String(error.detail) : "";
  const columns = /^Key \(([^)]*)\)=/.exec(detail)?.[1]?.split(", ") ?? [];
  return columns.map((column) => column.replaceAll('"', ""));
}

/** Lost or refused connections, deadlocks, lock time-outs, exhausted resources, statement time-outs, shutdown. */
function isUnavailable(code: string): boolean {
  return /^(08|40|53|55|57|58|CONNECT|CONNECTION|E[A-Z]+$)/.test(code);
}

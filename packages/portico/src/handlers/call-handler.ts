// Calls a handler for an event.

import { systemCaller } from "../auth/system-caller.ts";
import type { HandledEvent } from "../declare/handlers.ts";
import { backgroundRows } from "../engine/background-rows.ts";
import type { Engine } from "../engine/engine.ts";
import type { AuthoredEvent } from "../events/event-lookup.ts";
import { type RunOutcome, runTimed, type TimedRunOptions } from "../jobs/timed-run.ts";
import type { DeclaredHandler } from "./declared-handlers.ts";

/**
 * How many handlers may have caused each other's events. Then an event is set aside: handlers that write rows of each other,
 * or the row that they handle, would never end.
 */
export const maxDepth = 10;

/** Identifies what a handler writes in the events of its writes, with the number of handlers before it. */
const credentialPrefix = "handler/";

/** How many handlers, one after the other, have caused an event: 0 for an event of a request. */
export function depthOf({ credentialId }: Pick<AuthoredEvent, "credentialId">): number {
  return credentialId.startsWith(credentialPrefix) ? Number(credentialId.slice(credentialPrefix.length)) : 0;
}

export function callHandler(
  engine: Engine,
  { run }: DeclaredHandler,
  event: AuthoredEvent,
  attempt: number,
  options: TimedRunOptions,
): Promise<RunOutcome> {
  const { id, type, createdAt: timestamp, tenantId, row } = event;
  const caller = {
    ...systemCaller(engine.model, tenantId),
    credentialId: `${credentialPrefix}${depthOf(event) + 1}`,
  };
  return runTimed((signal, results) => {
    const handled: HandledEvent = { id, type, timestamp, tenantId, data: JSON.parse(row) };
    const now = new Date().toISOString();
    const { rows, transaction } = backgroundRows(engine, caller, signal, results);
    return run({ event: handled, rows, transaction, now, attempt, signal });
  }, options);
}

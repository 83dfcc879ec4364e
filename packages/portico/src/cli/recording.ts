// What the server keeps of the requests that it answers: uses of keys and the request log, each for some days.

import type { Model } from "../declare/model.ts";
import { RequestLog, requestLogExpiry, requestLogs } from "../events/request-log.ts";
import type { Logger } from "../http/log.ts";
import type { RequestRecorder } from "../http/request-log.ts";
import { KeyUses, usageExpiry } from "../identity/key-uses.ts";
import { Purge } from "../store/purge.ts";
import type { Store } from "../store/store.ts";
import { type Report, WriteBehind } from "../store/write-behind.ts";
import type { Settings } from "./settings.ts";

export interface Recording {
  readonly recorders: readonly RequestRecorder[];
  /** Begins to write and to remove what is over. */
  start(): void;
  /** Writes what is left. Call it when no more requests come, and before the database is closed. */
  stop(): Promise<void>;
}

export function recordingOf(
  store: Store,
  model: Model,
  { usageDays, requestLogDays }: Settings,
  logger: Logger,
): Recording {
  const report: Report = (message, details) => logger.warn(details, message);
  const uses = new KeyUses(store, report);
  const log = new RequestLog(store, model.resource.get(requestLogs.name)!, report);
  const isLogKept = requestLogDays > 0;
  const writing = new WriteBehind(store, [...uses.gatherings, ...(isLogKept ? [log] : [])], report);
  // Rows of a time when the log was kept go, too.
  const expiries = [usageExpiry(usageDays), requestLogExpiry(store.dialect, requestLogDays)];
  const purge = new Purge(store, expiries, report);
  return {
    recorders: isLogKept ? [uses, log] : [uses],
    start() {
      writing.start();
      purge.start();
    },
    async stop() {
      await purge.stop();
      await writing.stop();
    },
  };
}

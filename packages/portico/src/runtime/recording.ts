// What the server keeps of the requests that it answers: uses of keys and the request log.

import type { Logger } from "../http/logging/log.ts";
import type { RequestRecorder } from "../http/logging/request-log.ts";
import { PeriodicTask } from "../jobs/periodic-task.ts";
import { WriteBehind } from "../jobs/write-behind.ts";
import type { Report } from "../lib/report.ts";
import type { Model } from "../model/model.ts";
import type { Store } from "../store/store.ts";
import { KeyUsageBuffer } from "../usage/key-usage-buffer.ts";
import { RequestLog, requestLogs } from "../usage/request-log.ts";
import type { Settings } from "./settings/settings.ts";

export interface Recording {
  readonly recorders: readonly RequestRecorder[];
  /** Begins to write. */
  start(): void;
  /** Writes what is left. Call it when no more requests come, and before the database is closed. */
  stop(): Promise<void>;
}

export function requestRecording(
  store: Store,
  model: Model,
  { requestLogDays }: Settings,
  logger: Logger,
): Recording {
  const report: Report = (message, details) => logger.warn(details, message);
  const uses = new KeyUsageBuffer(store, report);
  const log = new RequestLog(store, model.resource.get(requestLogs.name)!, report);
  const isLogKept = requestLogDays > 0;
  const writeBehind = new WriteBehind(store, [...uses.buffers, ...(isLogKept ? [log] : [])], report);
  const task = new PeriodicTask(writeBehind.work, report);
  return {
    recorders: isLogKept ? [uses, log] : [uses],
    start: () => task.start(),
    async stop() {
      await task.stop();
      await writeBehind.finish();
    },
  };
}

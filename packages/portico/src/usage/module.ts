import type { ReadReport } from "../model/operations.ts";
import type { Module, ModuleOptions, ReportContext } from "../runtime/module.ts";
import { KeyUsage, keyUsageReport } from "./key-usage.ts";
import { keyUsageRetention, keyUsageTable, requestLogRetention, requestLogs } from "./tables.ts";

/** Counts of key uses and the request log, both written from memory once a second. */
export function usageModule({ settings: { usageDays, requestLogDays } }: ModuleOptions): Module {
  return {
    tables: [keyUsageTable],
    resources: [requestLogs],
    reports: [{ ...keyUsageReport, reader: keyUsageReader }],
    async start({ store, model, report }) {
      const [{ WriteBehind }, { KeyUsageBuffer }, { RequestLog }] = await Promise.all([
        import("../jobs/write-behind.ts"),
        import("./key-usage-buffer.ts"),
        import("./request-log.ts"),
      ]);
      const uses = new KeyUsageBuffer(store, report);
      const log =
        requestLogDays > 0 ? [new RequestLog(store, model.resource.get(requestLogs.name)!, report)] : [];
      const writeBehind = new WriteBehind(store, [...uses.buffers, ...log], report);
      return {
        recorders: [uses, ...log],
        writers: [writeBehind.work],
        flush: () => writeBehind.finish(),
        // With 0 days the rows of an earlier log are deleted.
        retention: [keyUsageRetention(usageDays), requestLogRetention(store.dialect, requestLogDays)],
      };
    },
  };
}

function keyUsageReader({ model, store }: ReportContext): ReadReport {
  const usage = new KeyUsage(model, store);
  return (...request) => usage.read(...request);
}

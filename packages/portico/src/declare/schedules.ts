// Schedules: code of a declaration that runs at certain times.

import type { BackgroundContext } from "./handlers.ts";

/** When a schedule runs. */
export type ScheduleTime =
  | {
      /** The time between two runs: `"30 s"`, `"15 min"`, `"1 h"`, `"7 d"`. */
      readonly every: string;
      readonly cron?: never;
      readonly timeZone?: never;
    }
  | {
      /** Minute, hour, day of the month, month, day of the week: `"0 3 * * *"`. */
      readonly cron: string;
      /** `"Europe/Berlin"`; UTC by default. */
      readonly timeZone?: string;
      readonly every?: never;
    };

interface ScheduledContext {
  /** When the run was due, which may be long ago if no server was running. */
  readonly scheduledAt: string;
}

/** What a run for a tenant gets. */
export interface ScheduleContext extends BackgroundContext, ScheduledContext {
  readonly tenantId: string;
}

/** What a run for all tenants gets. */
export interface AppScheduleContext extends Pick<BackgroundContext, "now" | "signal">, ScheduledContext {
  /** The ids of the tenants, oldest first. */
  readonly tenantIds: () => Promise<readonly string[]>;
  /** The operations on the rows of a tenant. */
  readonly forTenant: (tenantId: string) => Pick<BackgroundContext, "rows" | "transaction">;
}

interface Limits {
  /** The time that a run may take, for each tenant; `"5 min"` by default. */
  readonly timeout?: string;
}

/** A schedule that runs for each tenant, one after the other. */
export type TenantSchedule = ScheduleTime &
  Limits & {
    readonly perTenant?: true;
    readonly run: (context: ScheduleContext) => unknown;
  };

/** A schedule that runs once for all tenants. */
export type AppSchedule = ScheduleTime &
  Limits & {
    readonly perTenant: false;
    readonly run: (context: AppScheduleContext) => unknown;
  };

/**
 * Schedules by name.
 *
 * @example
 * schedules: {
 *   "clean-up": { every: "1 h", run: async ({ rows, now }) => { await rows.deleteMany(drafts, { expiresAt: { lt: now } }); } },
 * }
 */
export type Schedules = Readonly<Record<string, TenantSchedule | AppSchedule>>;

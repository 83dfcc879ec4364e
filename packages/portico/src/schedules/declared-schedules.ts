// The schedules that an app declares, validated.

import { Cron } from "croner";
import type { AppSchedule, Schedules, TenantSchedule } from "../declare/schedules.ts";
import { OperatorError } from "../errors.ts";
import { parseDuration } from "./duration.ts";

export interface DeclaredSchedule {
  readonly name: string;
  /** When it runs, for operators; if it changes, the next run is planned again: `every 1 h` */
  readonly definition: string;
  readonly timeoutMs: number;
  readonly schedule: TenantSchedule | AppSchedule;
  /** When it runs next. @param due when it was due @param now milliseconds since 1970, as the result */
  nextAfter(due: number, now: number): number;
}

const options = ["every", "cron", "timeZone", "timeout", "perTenant", "run"];
const namePattern = /^[a-z][a-zA-Z0-9_-]{0,49}$/;
const standardTimeoutMs = 5 * 60_000;
const maxTimeoutMs = 24 * 3_600_000;
const minIntervalMs = 10_000;
const maxIntervalMs = 366 * 86_400_000;
/** Minute, hour, day of the month, month and day of the week. */
const fieldsOfCron = 5;
/** When a schedule runs whose days never come: 30 February. */
const never = Date.parse("9999-12-31T00:00:00.000Z");

/** @throws OperatorError for one that is invalid */
export function declaredSchedules(schedules: Schedules = {}): readonly DeclaredSchedule[] {
  if (!isObject(schedules)) throw new OperatorError("app: schedules must be an object of schedules by name");
  return Object.entries(schedules).map(([name, schedule]) => {
    const refuse = (message: string): never => {
      throw new OperatorError(`app: the schedule ${JSON.stringify(name)} ${message}`);
    };
    if (!namePattern.test(name))
      refuse("has an invalid name; use letters, digits, _ and -, at most 50, a lowercase letter first");
    if (!isObject(schedule) || typeof schedule.run !== "function")
      refuse('must have a function run: { every: "1 h", run: async ({ rows }) => {...} }');
    const unknown = Object.keys(schedule).find((option) => !options.includes(option));
    if (unknown !== undefined) refuse(`has the unknown option ${unknown}; use some of ${options.join(", ")}`);
    const timeoutMs = schedule.timeout === undefined ? standardTimeoutMs : parseDuration(schedule.timeout);
    if (timeoutMs === undefined || timeoutMs > maxTimeoutMs)
      return refuse('has an invalid timeout; write "30 s", "15 min" or "1 h", at most one day');
    return { name, timeoutMs, schedule, ...timesOf(schedule, refuse) };
  });
}

function timesOf(
  { every, cron, timeZone: zone }: TenantSchedule | AppSchedule,
  refuse: (message: string) => never,
): Pick<DeclaredSchedule, "definition" | "nextAfter"> {
  if ((every === undefined) === (cron === undefined))
    return refuse('must have either every: "1 h" or cron: "0 3 * * *"');
  if (cron !== undefined) return cronTimes(cron, zone ?? "UTC", refuse);
  if (zone !== undefined) refuse("has a timeZone, which only cron uses; remove it");
  const intervalMs = parseDuration(every);
  if (intervalMs === undefined || intervalMs < minIntervalMs || intervalMs > maxIntervalMs)
    return refuse(
      `has an invalid interval ${JSON.stringify(every)}; write "30 s", "15 min", "1 h" or "7 d", from 10 s to 366 d`,
    );
  return {
    definition: `every ${every}`,
    // Runs that were missed are left out.
    nextAfter: (due, now) => due + intervalMs * Math.max(1, Math.floor((now - due) / intervalMs) + 1),
  };
}

function cronTimes(
  cron: string,
  timeZone: string,
  refuse: (message: string) => never,
): Pick<DeclaredSchedule, "definition" | "nextAfter"> {
  // The library takes a date as well, for something that happens once.
  if (typeof cron !== "string" || cron.trim().split(/\s+/).length !== fieldsOfCron)
    return refuse('has an invalid time: write the five fields of cron, "0 3 * * *"');
  if (typeof timeZone !== "string") return refuse('has an invalid timeZone; write "Europe/Berlin"');
  let times: Cron;
  try {
    times = new Cron(cron, { timezone: timeZone, paused: true, mode: "5-part" });
    times.nextRun();
  } catch (error) {
    return refuse(`has an invalid time: ${(error as Error).message}`);
  }
  return {
    definition: `cron ${cron} ${timeZone}`,
    nextAfter: (_due, now) => times.nextRun(new Date(now))?.getTime() ?? never,
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// Reads how often a key was used: its counts by minute, summed up to larger steps. Requests of the last second may not be
// in the database yet.

import { sql } from "kysely";
import type { Caller } from "../declare/caller.ts";
import { requireScope } from "../engine/authorize.ts";
import { requireParentRow } from "../engine/find-row.ts";
import { InvalidInput } from "../engine/validation/invalid-input.ts";
import type { FieldError } from "../errors.ts";
import { parseTimestamp } from "../lib/timestamp.ts";
import type { Model, ResourceModel } from "../model/model.ts";
import { queryParameter } from "../model/operation-parameters.ts";
import type { Report } from "../model/operations.ts";
import { defineQuery, type ParametersOf } from "../store/own-tables/query.ts";
import type { Store } from "../store/store.ts";
import { keyUsageTable, minuteOf } from "./tables.ts";

/** Minutes of each step. */
const stepMinutes = { minute: 1, hour: 60, day: 24 * 60 } as const;
type Step = keyof typeof stepMinutes;

const defaultRangeMinutes = stepMinutes.day;
/** Maximum number of steps and of counts in a response. */
const maxSteps = 1_500;
const maxRows = 10_000;

const time = { type: "string", format: "date-time" };

export const keyUsageReport: Report = {
  id: "getApiKeyUsage",
  resource: "apiKey",
  segment: "usage",
  summary: "Get the usage of an API key",
  parameters: [
    queryParameter("from", time, "The start of the range, by default 24 hours before its end."),
    queryParameter("to", time, "The end of the range, by default now."),
    queryParameter(
      "step",
      { type: "string", enum: Object.keys(stepMinutes), default: "hour" },
      "The time that each count covers.",
    ),
  ],
  output: {
    title: "ApiKeyUsage",
    type: "object",
    properties: {
      data: {
        type: "array",
        items: {
          type: "object",
          properties: {
            from: time,
            to: time,
            route: { type: "string" },
            statusClass: { type: "string", enum: ["2xx", "3xx", "4xx", "5xx"] },
            count: { type: "integer" },
          },
          required: ["from", "to", "route", "statusClass", "count"],
        },
      },
      pagination: {
        type: "object",
        properties: { nextCursor: { type: "null" }, hasMore: { const: false } },
        required: ["nextCursor", "hasMore"],
      },
    },
    required: ["data", "pagination"],
  },
};

/** The parameters as the caller sent them. */
export interface UsageRequest {
  /** ISO 8601; 24 hours before `to` by default. */
  readonly from?: string | undefined;
  /** ISO 8601; the current time by default. */
  readonly to?: string | undefined;
  /** `minute`, `hour` or `day`; `hour` by default. */
  readonly step?: string | undefined;
}

/** The number of requests of one step, route and status class. */
export interface UsageCount {
  /** The start of the step; its end, `to`, is excluded. */
  readonly from: string;
  readonly to: string;
  /** The pattern of the path: `/posts/:id` */
  readonly route: string;
  /** `2xx` to `5xx` */
  readonly statusClass: string;
  readonly count: number;
}

interface UsageRange {
  readonly tenantId: string;
  readonly keyId: string;
  /** Minutes since 1970; `end` is excluded. */
  readonly first: number;
  readonly end: number;
}

export class KeyUsage {
  readonly #model: Model;
  readonly #store: Store;

  constructor(model: Model, store: Store) {
    this.#model = model;
    this.#store = store;
  }

  /** The resource of API keys. */
  get keys(): ResourceModel {
    return this.#model.resource.get("apiKey")!;
  }

  /**
   * Reads the counts of a key, oldest first. Steps without requests are omitted.
   *
   * @throws Problem `insufficient_scope`, `not_found`, or `validation_error` for invalid parameters
   */
  async read(caller: Caller, keyId: string, request: UsageRequest): Promise<UsageCount[]> {
    requireScope(caller, this.keys.scopes.read);
    const { step, first, end } = parseUsageRequest(request);
    await requireParentRow(this.#store, this.#store.database, caller, this.keys, keyId);
    const range = { tenantId: caller.tenantId, keyId, first, end };
    const rows = await countQueries[step](this.#store).all(this.#store.database, range);
    if (rows.length > maxRows) throw new InvalidInput([rangeTooLarge(`more than ${maxRows} counts`)]);
    return rows.map(({ step: number, route, statusClass, count }) => {
      const from = number * stepMinutes[step];
      return {
        from: timestampOfMinute(from),
        to: timestampOfMinute(from + stepMinutes[step]),
        route,
        statusClass: `${statusClass}xx`,
        count,
      };
    });
  }
}

function countsByStep(minutes: number) {
  const number = sql<number>`minute / ${sql.lit(minutes)}`;
  return defineQuery(
    [keyUsageTable],
    (db, range: ParametersOf<UsageRange>) =>
      db
        .selectFrom("key_usage")
        .select(({ fn }) => [
          number.as("step"),
          "route",
          "status_class as statusClass",
          fn.sum<number>("count").as("count"),
        ])
        .where("tenant_no", "=", range.tenantId)
        .where("key_id", "=", range.keyId)
        .where("minute", ">=", range.first)
        .where("minute", "<", range.end)
        .groupBy([number, "route", "status_class"])
        .orderBy(number)
        .orderBy("route")
        .orderBy("status_class")
        .limit(sql.lit(maxRows + 1)),
    { mayScan: true, tenantOf: ({ tenantId }) => tenantId },
  );
}

const countQueries: Readonly<Record<Step, ReturnType<typeof countsByStep>>> = {
  minute: countsByStep(stepMinutes.minute),
  hour: countsByStep(stepMinutes.hour),
  day: countsByStep(stepMinutes.day),
};

/** Rounds the range to whole minutes: from the minute of `from` to the last minute that starts before `to`. */
function parseUsageRequest(
  request: UsageRequest,
): { readonly step: Step } & Pick<UsageRange, "first" | "end"> {
  const errors: FieldError[] = [];
  const step = parseStep(request.step ?? "hour", errors);
  const to = request.to === undefined ? Date.now() : parseTime("to", request.to, errors);
  const end = minuteOf(to - 1) + 1;
  const first =
    request.from === undefined
      ? end - defaultRangeMinutes
      : minuteOf(parseTime("from", request.from, errors));
  if (errors.length === 0 && first >= end)
    errors.push({ field: "from", issue: "max", text: "must be earlier than to" });
  const covered = Math.ceil((end - first) / stepMinutes[step]);
  if (errors.length === 0 && covered > maxSteps) errors.push(rangeTooLarge(`${covered} steps`));
  if (errors.length > 0) throw new InvalidInput(errors);
  return { step, first, end };
}

function parseStep(text: string, errors: FieldError[]): Step {
  if (text === "minute" || text === "hour" || text === "day") return text;
  errors.push({ field: "step", issue: "choice", text: "must be one of minute, hour, day" });
  return "day";
}

function parseTime(field: string, text: string, errors: FieldError[]): number {
  const timestamp = parseTimestamp(text);
  if (timestamp !== undefined) return Date.parse(timestamp);
  errors.push({ field, issue: "format", text: "must be an ISO 8601 date and time" });
  return 0;
}

function rangeTooLarge(actual: string): FieldError {
  const limits = `at most ${maxSteps} steps and ${maxRows} counts are returned`;
  return { field: "step", issue: "max", text: `is too small: the range has ${actual}, and ${limits}` };
}

function timestampOfMinute(minute: number): string {
  return new Date(minute * 60_000).toISOString();
}

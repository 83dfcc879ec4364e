// How often a key was used: its counts by minute, added up to the steps that are asked for. What was counted in the
// last second may still be on its way to the database.

import { sql } from "kysely";
import type { Caller } from "../declare/caller.ts";
import type { Model, ResourceModel } from "../declare/model.ts";
import { moment } from "../declare/moment.ts";
import type { Fault } from "../errors.ts";
import { minuteOf } from "../identity/key-uses.ts";
import type { Statement } from "../store/database.ts";
import { compile, slot } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
import { requireScope } from "./authorise.ts";
import { requireParentRow } from "./find-row.ts";
import { FaultyInput } from "./validate.ts";

/** Minutes of each step. */
const steps = { minute: 1, hour: 60, day: 24 * 60 } as const;
type Step = keyof typeof steps;

const standardMinutes = steps.day;
/** Steps that one answer covers, and rows that it holds. */
const mostSteps = 1_500;
const mostRows = 10_000;

/** What is asked for, as a caller writes it. */
export interface AskedUsage {
  /** ISO 8601; 24 hours before `to`, when left out. */
  readonly from?: string | undefined;
  /** ISO 8601; now, when left out. */
  readonly to?: string | undefined;
  /** `minute`, `hour` or `day`; `hour`, when left out. */
  readonly step?: string | undefined;
}

/** The requests of one step, route and class of status. */
export interface UsageCount {
  /** The step begins here and ends before `to`. */
  readonly from: string;
  readonly to: string;
  /** The pattern of the path, `/posts/:id`. */
  readonly route: string;
  /** `2xx` to `5xx` */
  readonly statusClass: string;
  readonly count: number;
}

interface Range {
  readonly tenantId: string;
  readonly keyId: string;
  /** Minutes since 1970; the second lies outside. */
  readonly first: number;
  readonly end: number;
}

export class KeyUsage {
  readonly #model: Model;
  readonly #store: Store;
  readonly #statements: Readonly<Record<Step, Statement<Range>>>;

  constructor(model: Model, store: Store) {
    this.#model = model;
    this.#store = store;
    const statement = (step: Step): Statement<Range> => countsByStep(store, steps[step]);
    this.#statements = { minute: statement("minute"), hour: statement("hour"), day: statement("day") };
  }

  /** The resource whose rows have a usage. */
  get keys(): ResourceModel {
    return this.#model.resource.get("apiKey")!;
  }

  /**
   * The counts of a key, oldest first; steps without a request are left out.
   * @throws Problem `insufficient_scope`, `not_found`, or `validation_error` for what is asked wrongly
   */
  async read(caller: Caller, keyId: string, asked: AskedUsage): Promise<UsageCount[]> {
    requireScope(caller, this.keys.scopes.read);
    const { step, first, end } = parseAsked(asked);
    await requireParentRow(this.#store, this.#store.database, caller, this.keys, keyId);
    const range = { tenantId: caller.tenantId, keyId, first, end };
    const rows = await this.#store.database.query(this.#statements[step], range);
    if (rows.length > mostRows) throw new FaultyInput([tooMuch(`more than ${mostRows} counts`)]);
    return rows.map(([number, route, statusClass, count]) => {
      const from = Number(number) * steps[step];
      return {
        from: momentOf(from),
        to: momentOf(from + steps[step]),
        route: String(route),
        statusClass: `${statusClass}xx`,
        count: Number(count),
      };
    });
  }
}

function countsByStep({ dialect }: Store, minutes: number): Statement<Range> {
  const number = sql`minute / ${sql.lit(minutes)}`;
  return compile(
    dialect.builder,
    sql`select ${number}, route, status_class, sum(count) from key_usage
      where tenant_id = ${slot(({ tenantId }: Range) => tenantId)} and key_id = ${slot(({ keyId }: Range) => keyId)}
        and minute >= ${slot(({ first }: Range) => first)} and minute < ${slot(({ end }: Range) => end)}
      group by ${number}, route, status_class order by ${number}, route, status_class
      limit ${sql.lit(mostRows + 1)}`,
    { mayScan: true, tenantOf: ({ tenantId }) => tenantId },
  );
}

/** Whole minutes: the first one is that of `from`, the last one that of the last moment before `to`. */
function parseAsked(asked: AskedUsage): { readonly step: Step } & Pick<Range, "first" | "end"> {
  const faults: Fault[] = [];
  const step = stepNamed(asked.step ?? "hour", faults);
  const to = asked.to === undefined ? Date.now() : timeOf("to", asked.to, faults);
  const end = minuteOf(to - 1) + 1;
  const first =
    asked.from === undefined ? end - standardMinutes : minuteOf(timeOf("from", asked.from, faults));
  if (faults.length === 0 && first >= end)
    faults.push({ field: "from", issue: "max", text: "must be earlier than to" });
  const covered = Math.ceil((end - first) / steps[step]);
  if (faults.length === 0 && covered > mostSteps) faults.push(tooMuch(`${covered} of them`));
  if (faults.length > 0) throw new FaultyInput(faults);
  return { step, first, end };
}

function stepNamed(text: string, faults: Fault[]): Step {
  if (text === "minute" || text === "hour" || text === "day") return text;
  faults.push({ field: "step", issue: "choice", text: "must be one of minute, hour, day" });
  return "day";
}

function timeOf(field: string, text: string, faults: Fault[]): number {
  const found = moment(text);
  if (found !== undefined) return Date.parse(found);
  faults.push({ field, issue: "format", text: "must be an ISO 8601 date and time" });
  return 0;
}

function tooMuch(found: string): Fault {
  const remedy = `ask for a larger step or a shorter time: ${mostSteps} steps and ${mostRows} counts are the most`;
  return { field: "step", issue: "max", text: `is too small, there would be ${found}; ${remedy}` };
}

function momentOf(minute: number): string {
  return new Date(minute * 60_000).toISOString();
}

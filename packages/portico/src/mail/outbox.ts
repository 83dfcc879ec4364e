// The mails that wait to be sent, of all tenants. Senders of several processes share them out by leases: a mail is
// taken for a while, and what became of it is written only by the one who still holds it.

import { type RawBuilder, sql } from "kysely";
import type { RecordOf } from "../declare/record.ts";
import { isUnavailable } from "../errors.ts";
import type { Report } from "../lib/report.ts";
import type { Model } from "../model/model.ts";
import { select } from "../query/selection.ts";
import { rowJson } from "../store/compile/row.ts";
import type { Statement } from "../store/database.ts";
import { compile, parameter } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
import { mails } from "./message.ts";

type Mail = RecordOf<typeof mails>;

/** A mail that this process may send until the lease ends. */
export interface LeasedMail
  extends Pick<Mail, "id" | "to" | "subject" | "text" | "html" | "kind" | "attempts" | "createdAt"> {
  readonly tenantId: string;
  readonly lease: Lease;
}

export interface Lease {
  readonly id: string;
  /** When it was given, and when it ends. */
  readonly from: string;
  readonly until: string;
}

/** What became of a mail that was taken. */
export interface SendOutcome {
  readonly status: "sent" | "waiting" | "failed";
  readonly at: string;
  /** When it is tried again, for one that waits. */
  readonly nextAttemptAt?: string | undefined;
  readonly lastError: string | null;
}

interface LeaseRequest {
  readonly count: number;
  /** Mails that are due and are left where they are. */
  readonly skipped: number;
  readonly lease: Lease;
}

interface RecordedOutcome {
  readonly mail: LeasedMail;
  readonly outcome: SendOutcome;
}

/** So long mails are taken one by one after some could not be taken together. */
const singlyMs = 60_000;
/** Mails that may be refused before the rest waits for the next look. */
const maxRefused = 100;

export class Outbox {
  readonly #store: Store;
  readonly #report: Report;
  #singlyUntil = 0;
  readonly #isAnyDue: Statement<string>;
  readonly #lease: Statement<LeaseRequest>;
  readonly #recordOutcome: Statement<RecordedOutcome>;

  /** @param report is told of mails that cannot be taken */
  constructor(store: Store, model: Model, report: Report) {
    this.#store = store;
    this.#report = report;
    const { builder, skipLocked } = store.dialect;
    const resource = model.resource.get(mails.name)!;
    const taken = select(
      ["id", "to", "subject", "text", "html", "kind", "attempts", "createdAt"].map(
        (name) => resource.attribute.get(name)!,
      ),
      [],
    );
    const due = (now: RawBuilder<unknown>) => sql`status = 'waiting' and next_attempt_at <= ${now}`;
    this.#isAnyDue = compile(
      builder,
      sql`select 1 from mails where ${due(parameter((now: string) => now))} limit 1`,
    );
    const now = parameter(({ lease }: LeaseRequest) => lease.from);
    this.#lease = compile(
      builder,
      sql`with due as (select tenant_id, id from mails where ${due(now)} order by next_attempt_at
          limit cast(${parameter(({ count }: LeaseRequest) => count)} as integer)
          offset cast(${parameter(({ skipped }: LeaseRequest) => skipped)} as integer)${skipLocked})
        update mails set attempts = attempts + 1, lease_id = ${parameter(({ lease }: LeaseRequest) => lease.id)},
          next_attempt_at = ${parameter(({ lease }: LeaseRequest) => lease.until)}
        where (tenant_id, id) in (select tenant_id, id from due)
        returning tenant_id, ${rowJson(store.dialect, undefined, taken)}`,
    );
    const outcome = (value: (outcome: SendOutcome) => unknown) =>
      parameter(({ outcome }: RecordedOutcome) => value(outcome));
    const mail = (value: (mail: LeasedMail) => unknown) =>
      parameter(({ mail }: RecordedOutcome) => value(mail));
    this.#recordOutcome = compile(
      builder,
      sql`update mails set status = ${outcome(({ status }) => status)},
          next_attempt_at = ${outcome(({ nextAttemptAt, at }) => nextAttemptAt ?? at)},
          sent_at = ${outcome(({ status, at }) => (status === "sent" ? at : null))},
          last_error = ${outcome(({ lastError }) => lastError)},
          updated_at = ${outcome(({ at }) => at)}, lease_id = null
        where tenant_id = ${mail(({ tenantId }) => tenantId)} and id = ${mail(({ id }) => id)}
          and lease_id = ${mail(({ lease }) => lease.id)}`,
    );
  }

  /** Whether a mail is due; it costs no write. */
  async isAnyDue(now: string): Promise<boolean> {
    return (await this.#store.database.query(this.#isAnyDue, now)).length > 0;
  }

  /** Takes at most so many mails that are due; nobody else takes them until the lease ends. */
  async lease(count: number, lease: Lease): Promise<LeasedMail[]> {
    if (Date.now() < this.#singlyUntil) return this.#takeSingly(count, lease);
    try {
      return await this.#takePart({ count, skipped: 0, lease });
    } catch (error) {
      if (isUnavailable(error)) throw error;
      this.#report("a mail is refused by the database; the others are sent, and it is tried again", {
        err: error,
      });
      this.#singlyUntil = Date.now() + singlyMs;
      return this.#takeSingly(count, lease);
    }
  }

  /** Takes them one by one, and leaves those that the database refuses to write. */
  async #takeSingly(count: number, lease: Lease): Promise<LeasedMail[]> {
    const mails: LeasedMail[] = [];
    for (let skipped = 0; mails.length < count && skipped < maxRefused; ) {
      try {
        const taken = await this.#takePart({ count: 1, skipped, lease });
        if (taken.length === 0) break;
        mails.push(...taken);
      } catch (error) {
        if (isUnavailable(error)) throw error;
        skipped += 1;
      }
    }
    return mails;
  }

  async #takePart(taking: LeaseRequest): Promise<LeasedMail[]> {
    const rows = await this.#store.transaction((session) => session.query(this.#lease, taking));
    return (rows as readonly (readonly [string, string])[]).map(([tenantId, text]) => ({
      ...JSON.parse(text),
      tenantId,
      lease: taking.lease,
    }));
  }

  /** Writes what became of a mail and gives it back; nothing where somebody else holds it by now. */
  async recordOutcome(mail: LeasedMail, outcome: SendOutcome): Promise<void> {
    await this.#store.transaction((session) => session.query(this.#recordOutcome, { mail, outcome }));
  }
}

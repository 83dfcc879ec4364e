// The mails of all tenants that wait to be sent. The senders of several processes share them by leases.

import { sql } from "kysely";
import type { RecordOf } from "../declare/record.ts";
import { type JobOutcome, type Leased, LeaseQueue } from "../jobs/lease-queue.ts";
import type { Report } from "../lib/report.ts";
import type { Model } from "../model/model.ts";
import { select } from "../query/selection.ts";
import { rowJson } from "../store/compile/row.ts";
import type { Store } from "../store/store.ts";
import { mails } from "./message.ts";

type Mail = Pick<
  RecordOf<typeof mails>,
  "id" | "to" | "subject" | "text" | "html" | "kind" | "attempts" | "createdAt"
>;

/** A mail that this process may send until the lease ends. */
export type LeasedMail = Leased<Mail>;

export interface SendOutcome extends JobOutcome {
  /** `waiting` for the next attempt, or final. */
  readonly status: "sent" | "waiting" | "failed";
  readonly lastError: string | null;
}

export class Outbox extends LeaseQueue<Mail, SendOutcome> {
  /** @param report called when the database rejects the update of a mail */
  constructor(store: Store, model: Model, report: Report) {
    const { attribute } = model.resource.get(mails.name)!;
    const names = ["id", "to", "subject", "text", "html", "kind", "attempts", "createdAt"];
    const selection = select(
      names.map((name) => attribute.get(name)!),
      [],
    );
    const options = {
      table: "mails",
      isPending: sql`status = 'waiting'`,
      job: rowJson(store.dialect, undefined, selection),
      outcomeColumns: {
        status: ({ status }: SendOutcome) => status,
        sent_at: ({ status, at }: SendOutcome) => (status === "sent" ? at : null),
        last_error: ({ lastError }: SendOutcome) => lastError,
      },
      jobName: "a mail",
    };
    super(store, options, report);
  }
}

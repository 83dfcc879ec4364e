// The emails of all tenants that wait to be sent. The senders of several processes share them by leases.

import { sql } from "kysely";
import type { RecordOf } from "../declare/record.ts";
import { type JobOutcome, type Leased, LeaseQueue } from "../jobs/lease-queue.ts";
import type { Report } from "../lib/report.ts";
import type { Model } from "../model/model.ts";
import { select } from "../query/selection.ts";
import { rowJson } from "../store/compile/row.ts";
import type { Store } from "../store/store.ts";
import { emails } from "./message.ts";

type StoredEmail = Pick<
  RecordOf<typeof emails>,
  "id" | "to" | "subject" | "text" | "html" | "kind" | "attempts" | "createdAt"
>;

/** An email that this process may send until the lease ends. */
export type LeasedEmail = Leased<StoredEmail>;

export interface SendOutcome extends JobOutcome {
  /** `waiting` for the next attempt, or final. */
  readonly status: "sent" | "waiting" | "failed";
  readonly lastError: string | null;
}

export class Outbox extends LeaseQueue<StoredEmail, SendOutcome> {
  /** @param report called when the database rejects the update of an email */
  constructor(store: Store, model: Model, report: Report) {
    const { attribute } = model.resource.get(emails.name)!;
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
      jobName: "an email",
    };
    super(store, options, report);
  }
}

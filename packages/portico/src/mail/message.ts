// Emails are written in the transaction of the change that they report, so that both happen or neither does. They are
// sent later.

import { sql } from "kysely";
import { choice, integer, text, timestamp } from "../declare/field.ts";
import { resource } from "../declare/resource.ts";
import { dayMs, type RetentionPolicy } from "../jobs/purge.ts";
import { newId } from "../lib/id.ts";
import type { Model } from "../model/model.ts";
import type { Session } from "../store/database.ts";
import type { OwnIndex } from "../store/schema/table.ts";
import type { Store } from "../store/store.ts";
import type { Email } from "./templates/layout.ts";

export const emails = resource("mail", {
  fields: {
    to: text({ max: 254, format: "email" }),
    subject: text({ max: 255 }),
    text: text(),
    html: text(),
    /** What it reports: `api_key.created` */
    kind: text({ max: 80 }),
    /** `kept`: there is no mail server, and the email can only be displayed. */
    status: choice(["kept", "waiting", "sent", "failed"], { default: "waiting" }),
    attempts: integer({ min: 0, default: 0 }),
    /** When the email is due; while it is being sent, the end of the lease. */
    nextAttemptAt: timestamp({ default: "now" }),
    /** Identifies the process that is sending it: see `LeaseQueue`. */
    leaseId: text({ internal: true, optional: true }),
    sentAt: timestamp({ optional: true }),
    lastError: text({ optional: true }),
  },
  exposed: false,
  events: false,
});

/** For due emails and expired emails, of all tenants. */
export const emailIndexes: readonly OwnIndex[] = ["next_attempt_at", "created_at"].map((time) => ({
  table: "mails",
  name: `portico_mails_status_${time}`,
  columns: ["status", time].map((name) => ({ name, isNullable: false })),
  isUnique: false,
}));

/** Deletes emails after a number of days, except those that still wait to be sent. */
export function emailRetention(days: number): RetentionPolicy {
  return {
    table: "mails",
    retentionMs: days * dayMs,
    selectExpired: (column, before) => sql`select ${column} from mails
      where status in ('kept', 'sent', 'failed') and created_at < ${before}`,
    encode: (time) => new Date(time).toISOString(),
  };
}

/** The status of a new email: `waiting` to be sent, or `kept` if there is no mail server. */
export type InitialStatus = "kept" | "waiting";

/** What all emails share. */
export interface EmailSettings {
  readonly apiName: string;
  /** Where keys are managed: `https://api.example.com/v1/api-keys` */
  readonly keysUrl: string;
  readonly status: InitialStatus;
}

export interface NewEmail extends Email {
  readonly to: string;
  readonly kind: string;
  readonly status: InitialStatus;
}

/** Writes an email in the transaction of `session`. Hooks use `rows.create(emails, ...)` instead. */
export async function insertEmail(
  store: Store,
  session: Session,
  model: Model,
  tenantId: string,
  email: NewEmail,
): Promise<void> {
  const now = new Date().toISOString();
  const values = {
    ...email,
    id: newId("mail"),
    attempts: 0,
    nextAttemptAt: now,
    createdAt: now,
    updatedAt: now,
  };
  await store.writes.insert(session, { resource: model.resource.get(emails.name)!, tenantId, values });
}

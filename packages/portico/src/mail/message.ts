// Mails are written in the transaction of the change that they report, so that both happen or neither does. They are
// sent later.

import { sql } from "kysely";
import { choice, integer, text, timestamp } from "../declare/field.ts";
import { resource } from "../declare/resource.ts";
import { dayMs, type RetentionPolicy } from "../jobs/purge.ts";
import { newId } from "../lib/id.ts";
import type { Model } from "../model/model.ts";
import type { Session } from "../store/database.ts";
import type { OwnIndex } from "../store/schema/ddl.ts";
import type { Store } from "../store/store.ts";
import type { Email } from "./templates/layout.ts";

export const mails = resource("mail", {
  fields: {
    to: text({ max: 254, format: "email" }),
    subject: text({ max: 255 }),
    text: text(),
    html: text(),
    /** What it reports: `api_key.created` */
    kind: text({ max: 80 }),
    /** `kept`: there is no mail server, and the mail can only be displayed. */
    status: choice(["kept", "waiting", "sent", "failed"], { default: "waiting" }),
    attempts: integer({ min: 0, default: 0 }),
    /** When the mail is due; while it is being sent, the end of the lease. */
    nextAttemptAt: timestamp({ default: "now" }),
    /** Identifies the process that is sending it: see `LeaseQueue`. */
    leaseId: text({ internal: true, optional: true }),
    sentAt: timestamp({ optional: true }),
    lastError: text({ optional: true }),
  },
  exposed: false,
  events: false,
});

/** For due mails and expired mails, of all tenants. */
export const mailIndexes: readonly OwnIndex[] = ["next_attempt_at", "created_at"].map((time) => ({
  table: "mails",
  name: `portico_mails_status_${time}`,
  columns: ["status", time].map((name) => ({ name, isNullable: false })),
  isUnique: false,
}));

/** Deletes mails after a number of days, except those that still wait to be sent. */
export function mailRetention(days: number): RetentionPolicy {
  return {
    table: "mails",
    retentionMs: days * dayMs,
    selectExpired: (column, before) => sql`select ${column} from mails
      where status in ('kept', 'sent', 'failed') and created_at < ${before}`,
    encode: (time) => new Date(time).toISOString(),
  };
}

/** The status of a new mail: `waiting` to be sent, or `kept` if there is no mail server. */
export type InitialStatus = "kept" | "waiting";

/** What all emails share. */
export interface EmailSettings {
  readonly apiName: string;
  /** Where keys are managed: `https://api.example.com/v1/api-keys` */
  readonly keysUrl: string;
  readonly status: InitialStatus;
}

export interface NewMail extends Email {
  readonly to: string;
  readonly kind: string;
  readonly status: InitialStatus;
}

/** Writes a mail in the transaction of `session`. Hooks use `rows.create(mails, ...)` instead. */
export async function insertMail(
  store: Store,
  session: Session,
  model: Model,
  tenantId: string,
  mail: NewMail,
): Promise<void> {
  const now = new Date().toISOString();
  const values = {
    ...mail,
    id: newId("mail"),
    attempts: 0,
    nextAttemptAt: now,
    createdAt: now,
    updatedAt: now,
  };
  await store.insert(session, { resource: model.resource.get(mails.name)!, tenantId, values });
}

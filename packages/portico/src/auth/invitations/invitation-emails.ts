// Sends the emails of invitations. Each is a transaction of its own, so a failure affects no other email.

import { sql } from "kysely";
import { dayMs, type RetentionPolicy } from "../../jobs/purge.ts";
import { TransactionalQueue } from "../../jobs/transactional-queue.ts";
import type { Report } from "../../lib/report.ts";
import type { AccountEmails } from "../../mail/account-emails.ts";
import type { Session } from "../../store/database.ts";
import { defineQuery, type ParametersOf } from "../../store/own-tables/query.ts";
import type { OwnIndex } from "../../store/schema/table.ts";
import type { Store } from "../../store/store.ts";
import type { OAuthUrls } from "../tokens/oauth-urls.ts";
import type { InvitationLinks } from "./acceptance.ts";
import { invitationEmails } from "./fields.ts";

const emailsPerPage = 100;
/** Longer than the time in which emails are counted. */
const retentionMs = 30 * dayMs;

/** For emails of all tenants that are due, and those that were sent long ago. */
export const invitationEmailIndexes: readonly OwnIndex[] = [
  {
    table: "invitation_emails",
    name: "portico_invitation_emails_sent_at_id",
    columns: [
      { name: "sent_at", isNullable: true },
      { name: "id", isNullable: false },
    ],
    isUnique: false,
  },
];

export const invitationEmailRetention: RetentionPolicy = {
  table: "invitation_emails",
  retentionMs,
  selectExpired: (column, before) => sql`select ${column} from invitation_emails where sent_at < ${before}`,
  encode: (time) => new Date(time).toISOString(),
};

interface EmailKey {
  readonly tenantId: string;
  readonly id: string;
}

const dueEmails = defineQuery([invitationEmails], (db, { after }: ParametersOf<{ after: string }>) =>
  db
    .selectFrom("invitation_emails")
    .select(["id", "tenant_no as tenantId"])
    .where("sent_at", "is", null)
    .where("id", ">", after)
    .orderBy("id")
    .limit(sql.lit(emailsPerPage)),
);

const markSent = defineQuery(
  [invitationEmails],
  (db, { tenantId, id, now }: ParametersOf<EmailKey & { now: string }>) =>
    db
      .updateTable("invitation_emails")
      .set({ sent_at: now })
      .where("tenant_no", "=", tenantId)
      .where("id", "=", id)
      .where("sent_at", "is", null)
      .returning(["invitation_id as invitationId", "address"]),
);

export class InvitationEmailQueue {
  readonly #store: Store;
  readonly #links: InvitationLinks;
  readonly #emails: Pick<AccountEmails, "invitation">;
  readonly #urls: Promise<OAuthUrls>;
  readonly #queue: TransactionalQueue<EmailKey>;

  /** @param urls resolved once the server listens */
  constructor(
    store: Store,
    links: InvitationLinks,
    emails: Pick<AccountEmails, "invitation">,
    urls: Promise<OAuthUrls>,
    report: Report,
  ) {
    this.#store = store;
    this.#links = links;
    this.#emails = emails;
    this.#urls = urls;
    const due = {
      page: (after?: EmailKey) => dueEmails(store).all(store.database, { after: after?.id ?? "" }),
      idOf: ({ id }: EmailKey) => id,
      process: (key: EmailKey) => store.transaction((session) => this.#send(session, key)),
    };
    this.#queue = new TransactionalQueue(due, "queueing the email of an invitation", report);
  }

  /** Sends all emails that are due. */
  poll(): Promise<void> {
    return this.#queue.run();
  }

  /** An invitation that was withdrawn or accepted meanwhile gets no email. */
  async #send(session: Session, key: EmailKey): Promise<void> {
    const marked = await markSent(this.#store).first(session, { ...key, now: new Date().toISOString() });
    if (!marked) return;
    const { tenantId } = key;
    const invitation = await this.#links.find({ tenantId, id: marked.invitationId }, session);
    if (!invitation) return;
    const token = await this.#links.create(session, invitation);
    const url = `${(await this.#urls).issuer}/invitation?token=${token}`;
    await this.#emails.invitation(session, { ...invitation, url });
  }
}

// Writes the mails about accounts that wait to be written: links that people asked for, warnings of guessed passwords,
// and what is done about changed addresses. Each is written by itself: one that fails holds up no other.

import { randomBytes } from "node:crypto";
import { TransactionalQueue } from "../../jobs/transactional-queue.ts";
import { epochSeconds } from "../../lib/epoch-seconds.ts";
import type { Report } from "../../lib/report.ts";
import type { AccountEmails } from "../../mail/account-emails.ts";
import type { Session } from "../../store/database.ts";
import type { Store } from "../../store/store.ts";
import type { OAuthRecords } from "../tokens/oauth-records.ts";
import type { ChangedUser, EmailChange, EmailChanges } from "./email-changes.ts";
import { type EmailLinks, type LinkRequest, linkRequestModel } from "./email-links.ts";
import type { User, UserLookup } from "./lookup.ts";

/** Apart from links, which an older server that runs beside this one writes as well. */
const warningModel = "AskedWarning";
const warningSeconds = 3_600;
const nameBytes = 32;

/** Old addresses that are told of changes that come together. */
const maxNotifiedAddresses = 10;
/** What a mail says of a change that a command made. */
const commandAddress = "a command on the server";

export interface AccountMailQueueDependencies {
  readonly store: Store;
  readonly records: OAuthRecords;
  readonly users: UserLookup;
  readonly emails: AccountEmails;
  readonly links: EmailLinks;
  readonly changes: EmailChanges;
}

/** Whose password is guessed, and from where the last try came. */
export type Warning = Pick<LinkRequest, "tenantId" | "email" | "address">;

export class AccountMailQueue {
  readonly #dependencies: AccountMailQueueDependencies;
  readonly #requested: TransactionalQueue<string>;
  readonly #warnings: TransactionalQueue<string>;
  readonly #changed: TransactionalQueue<ChangedUser>;

  constructor(dependencies: AccountMailQueueDependencies, report: Report) {
    this.#dependencies = dependencies;
    const { records, store, changes } = dependencies;
    const requested = {
      page: (after = "") => records.pageOfIds(linkRequestModel, after),
      idOf: (id: string) => id,
      process: (id: string) => store.transaction((session) => this.#sendRequested(session, id)),
    };
    const warnings = {
      page: (after = "") => records.pageOfIds(warningModel, after),
      idOf: (id: string) => id,
      process: (id: string) => store.transaction((session) => this.#warn(session, id)),
    };
    const changed = {
      page: (after?: ChangedUser) => changes.page(after?.id ?? ""),
      idOf: ({ id }: ChangedUser) => id,
      process: (user: ChangedUser) => store.transaction((session) => this.#notify(session, user)),
    };
    this.#requested = new TransactionalQueue(requested, "writing a mail that somebody asked for", report);
    this.#warnings = new TransactionalQueue(warnings, "writing a warning of guessed passwords", report);
    this.#changed = new TransactionalQueue(changed, "writing mails about a changed address", report);
  }

  /** Writes all that wait to be written. */
  async poll(): Promise<void> {
    await this.#requested.run();
    await this.#warnings.run();
    await this.#changed.run();
  }

  /** Keeps that somebody guesses a password. Whether there is such a person is looked up later, so that no answer tells. */
  async requestWarning({ tenantId, email, address }: Warning): Promise<void> {
    await this.#dependencies.records.put({
      model: warningModel,
      value: randomBytes(nameBytes).toString("base64url"),
      payload: JSON.stringify({ tenantId, email, address }),
      expiresAt: epochSeconds() + warningSeconds,
    });
  }

  async #warn(session: Session, id: string): Promise<void> {
    const { records, users, emails } = this.#dependencies;
    const payload = await records.takeById(warningModel, id, session);
    if (payload === undefined) return;
    const { tenantId, email, address }: Warning = JSON.parse(payload);
    const recipient = await users.findByEmail(tenantId, email, session);
    if (recipient) await emails.passwordGuessed(session, recipient, address);
  }

  /** Where there is such a person, they are sent what was asked for. */
  async #sendRequested(session: Session, id: string): Promise<void> {
    const { records, users, links } = this.#dependencies;
    const payload = await records.takeById(linkRequestModel, id, session);
    if (payload === undefined) return;
    const requested: LinkRequest = JSON.parse(payload);
    const recipient = await users.findByEmail(requested.tenantId, requested.email, session);
    if (!recipient) return;
    // An address that is not confirmed is confirmed first.
    const purpose = recipient.isEmailUnconfirmed ? "email" : requested.purpose;
    await links.send(session, recipient, { ...requested, purpose });
  }

  async #notify(session: Session, user: ChangedUser): Promise<void> {
    const { users, changes } = this.#dependencies;
    const known = await changes.take(user, session);
    const recipient = await users.find(user.id, session);
    const newChanges = known.filter(({ isNew }) => isNew);
    if (!recipient || newChanges.length === 0) return;
    await this.#notifyPrevious(session, recipient, newChanges);
    const present = known.findLast(({ email }) => email === recipient.email);
    const pending = known.findLast(({ isPending }) => isPending);
    const linked = [present, pending].filter((each) => each !== undefined);
    for (const { email, address } of new Set(linked.filter(({ isNew }) => isNew)))
      await this.#sendLink(session, { ...recipient, email }, address);
    // The newest stays in any case: it says when the person was last written to.
    await changes.deleteOthers(user, [...linked, known.at(-1)!], session);
  }

  async #notifyPrevious(session: Session, recipient: User, changes: readonly EmailChange[]): Promise<void> {
    const { emails } = this.#dependencies;
    const byPrevious = new Map(changes.map((change) => [change.previousEmail, change]));
    for (const [previous, { email, isPending, address }] of [...byPrevious].slice(0, maxNotifiedAddresses)) {
      const change = { email, isPending, address: address ?? commandAddress };
      await emails.emailChanged(session, { ...recipient, email: previous }, change);
    }
  }

  #sendLink(session: Session, recipient: User, address: string | null): Promise<void> {
    return this.#dependencies.links.send(session, recipient, {
      purpose: "email",
      address: address ?? commandAddress,
    });
  }
}

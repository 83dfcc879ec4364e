// Queues emails about accounts: requested links, those of people who sign up, warnings of brute-force attacks, and notices
// of changed addresses. Each is a transaction of its own, so a failure affects no other email.

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
import { type SignUpRequest, type SignUps, signUpRequestModel } from "./sign-up.ts";

/** Stored under a model of its own: during an upgrade, an older process also handles the requests for links. */
const warningModel = "AskedWarning";
const warningSeconds = 3_600;
const nameBytes = 32;

/** Previous addresses that are notified of changes that are handled together. */
const maxNotifiedAddresses = 10;
/** Named in emails as the origin of a change that a command made. */
const commandAddress = "a command on the server";

export interface AccountEmailQueueDependencies {
  readonly store: Store;
  readonly records: OAuthRecords;
  readonly users: UserLookup;
  readonly emails: AccountEmails;
  readonly links: EmailLinks;
  readonly changes: EmailChanges;
  readonly signUps: SignUps;
}

/** The account under attack, and the network address of the latest attempt. */
export type Warning = Pick<LinkRequest, "tenantId" | "email" | "address">;

export class AccountEmailQueue {
  readonly #dependencies: AccountEmailQueueDependencies;
  readonly #requested: TransactionalQueue<string>;
  readonly #signUps: TransactionalQueue<string>;
  readonly #warnings: TransactionalQueue<string>;
  readonly #changed: TransactionalQueue<ChangedUser>;

  constructor(dependencies: AccountEmailQueueDependencies, report: Report) {
    this.#dependencies = dependencies;
    const { records, store, changes } = dependencies;
    const requested = {
      page: (after = "") => records.pageOfIds(linkRequestModel, after),
      idOf: (id: string) => id,
      process: (id: string) => store.transaction((session) => this.#sendRequested(session, id)),
    };
    const signUps = {
      page: (after = "") => records.pageOfIds(signUpRequestModel, after),
      idOf: (id: string) => id,
      process: (id: string) => store.transaction((session) => this.#sendSignUp(session, id)),
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
    this.#requested = new TransactionalQueue(requested, "queueing a requested email", report);
    this.#signUps = new TransactionalQueue(signUps, "queueing the email of a person who signs up", report);
    this.#warnings = new TransactionalQueue(warnings, "queueing a warning of a brute-force attack", report);
    this.#changed = new TransactionalQueue(changed, "queueing emails about a changed address", report);
  }

  /** Handles all pending requests and changes. */
  async poll(): Promise<void> {
    await this.#requested.run();
    await this.#signUps.run();
    await this.#warnings.run();
    await this.#changed.run();
  }

  /** Stores a request for a warning. The account is looked up later, so no response reveals whether it exists. */
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

  async #sendRequested(session: Session, id: string): Promise<void> {
    const { records, users, links } = this.#dependencies;
    const payload = await records.takeById(linkRequestModel, id, session);
    if (payload === undefined) return;
    const requested: LinkRequest = JSON.parse(payload);
    const recipient = await users.findByEmail(requested.tenantId, requested.email, session);
    if (!recipient) return;
    // An unconfirmed address gets a confirmation link instead of a password link.
    const purpose = recipient.isEmailUnconfirmed ? "email" : requested.purpose;
    await links.send(session, recipient, { ...requested, purpose });
  }

  async #sendSignUp(session: Session, id: string): Promise<void> {
    const { records, signUps } = this.#dependencies;
    const payload = await records.takeById(signUpRequestModel, id, session);
    if (payload === undefined) return;
    const request: SignUpRequest = JSON.parse(payload);
    await signUps.send(session, request);
  }

  async #notify(session: Session, user: ChangedUser): Promise<void> {
    const { users, changes } = this.#dependencies;
    const all = await changes.take(user, session);
    const recipient = await users.findAny(user.id, session);
    const newChanges = all.filter(({ isNew }) => isNew);
    if (!recipient || newChanges.length === 0) return;
    await this.#notifyPrevious(session, recipient, newChanges);
    const current = all.findLast(({ email }) => email === recipient.email);
    const pending = all.findLast(({ isPending }) => isPending);
    const linked = [current, pending].filter((each) => each !== undefined);
    for (const { email, address } of new Set(linked.filter(({ isNew }) => isNew)))
      await this.#sendLink(session, { ...recipient, email }, address);
    // The newest stays in any case: its time limits how often the user gets emails.
    await changes.deleteOthers(user, [...linked, all.at(-1)!], session);
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

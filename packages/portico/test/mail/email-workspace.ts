// A database with a tenant, on which tests write emails and run senders.

import { setTimeout as sleep } from "node:timers/promises";
import { expiryIndexes } from "../../src/auth/api-keys/expiry-notices.ts";
import { declareApiKeys } from "../../src/auth/api-keys/resource.ts";
import { systemCaller } from "../../src/auth/system-caller.ts";
import { createTenant } from "../../src/auth/tenants/tenant.ts";
import { passwordsTable } from "../../src/auth/users/password.ts";
import { users } from "../../src/auth/users/resource.ts";
import { app } from "../../src/declare/app.ts";
import { Engine } from "../../src/engine/engine.ts";
import { eventsTable } from "../../src/events/event.ts";
import { emailIndexes, emails } from "../../src/mail/message.ts";
import { Outbox } from "../../src/mail/outbox.ts";
import { EmailSender } from "../../src/mail/sender.ts";
import { openTransport } from "../../src/mail/transport.ts";
import { buildModel } from "../../src/model/build-model.ts";
import { openStore } from "../../src/store/open.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import type { Store } from "../../src/store/store.ts";
import { tenantsTable } from "../../src/store/tenants.ts";
import { type DatabaseName, makeWorkspace, type Workspace } from "../support/server.ts";

const ignore = async (): Promise<void> => {};
export const apiKeys = declareApiKeys({
  environment: "test",
  expiringSoonDays: 7,
  standardQuota: { limit: 1000, windowSeconds: 60 },
  notices: { created: ignore, rotated: ignore, revoked: ignore },
});
export const model = buildModel(app({ name: "Mailing", resources: [] }), [users, apiKeys, emails]);

export interface EmailRow {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly status: string;
  readonly attempts: number;
  readonly lastError: string | null;
  readonly nextAttemptAt: string;
  readonly sentAt: string | null;
}

export class EmailWorkspace {
  readonly workspace: Workspace;
  readonly store: Store;
  readonly tenantId: string;
  readonly engine: Engine;
  /** The log messages of the senders. */
  readonly lines: string[] = [];
  readonly #senders: EmailSender[] = [];

  private constructor(workspace: Workspace, store: Store, tenantId: string) {
    this.workspace = workspace;
    this.store = store;
    this.tenantId = tenantId;
    this.engine = new Engine(model, store);
  }

  static async begin(database: DatabaseName): Promise<EmailWorkspace> {
    const workspace = await makeWorkspace(database);
    const store = await openStore(workspace.databaseUrl);
    const tables = [tenantsTable, passwordsTable, eventsTable];
    await migrate(store, tablesOf(model, tables, [...emailIndexes, ...expiryIndexes]));
    const { id } = await createTenant(store, "Mailing");
    return new EmailWorkspace(workspace, store, id);
  }

  async end(): Promise<void> {
    for (const sender of this.#senders) await sender.stop(0);
    await this.store.database.close();
    await this.workspace.remove();
  }

  /** Writes an email as a hook does. */
  async write(to: string, subject = "Hello"): Promise<string> {
    const caller = systemCaller(model, this.tenantId);
    const email = { to, subject, text: `${subject}\n`, html: `<p>${subject}</p>\n`, kind: "test" };
    return this.engine.inTransaction(caller, async (rows) => (await rows.create(emails, email)).id);
  }

  /** @param now the clock of the sender */
  async sender(url: string, now: () => number = Date.now, store = this.store): Promise<EmailSender> {
    const log = (facts: object, message: string): void => {
      this.lines.push(JSON.stringify({ ...facts, message }));
    };
    const from = { name: "Mailing", address: "no-reply@example.com" };
    const transport = await openTransport(url, from);
    const sender = new EmailSender(
      new Outbox(store, model, () => {}),
      transport,
      { info: log, warn: log },
      now,
    );
    this.#senders.push(sender);
    return sender;
  }

  async email(id: string): Promise<EmailRow> {
    const caller = systemCaller(model, this.tenantId);
    return this.engine.inTransaction(caller, async (rows) => (await rows.get(emails, id))!);
  }

  /** Polls until the email is as expected. */
  async until(id: string, isReached: (email: EmailRow) => boolean): Promise<EmailRow> {
    for (const end = Date.now() + 10_000; ; await sleep(10)) {
      const email = await this.email(id);
      if (isReached(email) || Date.now() > end) return email;
    }
  }

  /** Polls until the email has had this many attempts and no sender holds its lease. */
  async settled(id: string, attempts: number): Promise<EmailRow> {
    const query = `select 1 from mails where id = '${id}' and lease_id is null and attempts = ${attempts}`;
    for (const end = Date.now() + 10_000; Date.now() < end; await sleep(10))
      if ((await this.run(query)).length > 0) break;
    return this.email(id);
  }

  async run(statement: string): Promise<readonly (readonly unknown[])[]> {
    return this.store.transaction((session) => session.query({ sql: statement, bind: () => [] }, undefined));
  }
}

// One failing record does not block the others in background queues.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ExpiryNotifier } from "../../src/auth/api-keys/expiry-notices.ts";
import { systemCaller } from "../../src/auth/system-caller.ts";
import { users } from "../../src/auth/users/resource.ts";
import { Purge } from "../../src/jobs/purge.ts";
import { type QueueSource, TransactionalQueue } from "../../src/jobs/transactional-queue.ts";
import { KeyExpiryEmails } from "../../src/mail/key-emails.ts";
import { emailRetention } from "../../src/mail/message.ts";
import { apiKeys, EmailWorkspace, model } from "../mail/email-workspace.ts";
import { MailServer } from "../support/mail-server.ts";
import { refusal } from "../support/refusal.ts";
import { onEachDatabase } from "../support/server.ts";

const day = 24 * 60 * 60 * 1000;

onEachDatabase("queues", (database) => {
  let mailing: EmailWorkspace;
  const reports: string[] = [];
  const report = (message: string): void => void reports.push(message);
  before(async () => {
    mailing = await EmailWorkspace.begin(database);
  });
  after(() => mailing?.end());
  /** Makes the database reject an operation. Statements of PostgreSQL are run one by one. */
  const refuse = async (
    ...rejected: [operation: string, table: string, condition: string]
  ): Promise<void> => {
    const text = refusal(database, ...rejected);
    const parts = database === "sqlite" ? [text] : text.split(/;\s*(?=create trigger)/);
    for (const part of parts) await mailing.run(part);
  };

  test("an email that cannot be leased remains, and the others are sent", async () => {
    const server = await MailServer.start();
    try {
      const poison = await mailing.write("poison@example.com");
      const others = [await mailing.write("one@example.com"), await mailing.write("two@example.com")];
      await refuse("update", "mails", `new."to" = 'poison@example.com'`);
      const sender = await mailing.sender(server.url);
      for (const id of others) {
        await sender.poll();
        assert.equal((await mailing.until(id, ({ status }) => status === "sent")).status, "sent");
      }
      assert.equal((await mailing.email(poison)).status, "waiting");
    } finally {
      await server.stop();
    }
  });

  test("an old row that cannot be deleted remains, and the others are deleted", async () => {
    const ids = [];
    for (const name of ["stays", "goes1", "goes2"]) ids.push(await mailing.write(`${name}@example.com`));
    for (const id of ids)
      await mailing.run(
        `update mails set status = 'kept', created_at = '2026-01-01T00:00:00.000Z' where id = '${id}'`,
      );
    await refuse("delete", "mails", `old."to" = 'stays@example.com'`);
    await new Purge(mailing.store, [emailRetention(1)], report).purgeAll();
    const remaining = await mailing.run(`select id from mails where status = 'kept' order by id`);
    assert.deepEqual(remaining.flat(), [ids[0]]);
    assert.match(reports.join(), /an old row of mails cannot be deleted/);
  });

  test("a key whose expiry notice fails does not block the others", async () => {
    const expiresAt = new Date(Date.now() + day).toISOString();
    await mailing.engine.inTransaction(systemCaller(model, mailing.tenantId), async (rows) => {
      for (const name of ["poison", "ada", "grace"]) {
        const { id: ownerId } = await rows.create(users, { name, email: `${name}@keys.example.com` });
        await rows.create(apiKeys, { name, scopes: [], expiresAt, ownerId });
      }
    });
    await refuse("insert", "mails", `new."to" = 'poison@keys.example.com'`);
    const emailSettings = { apiName: "A", keysUrl: "https://a.example", status: "kept" } as const;
    const notices = new KeyExpiryEmails(mailing.store, model, emailSettings);
    const notifier = new ExpiryNotifier(mailing.store, model, notices, 7 * day, report);
    await notifier.poll();
    await notifier.poll();
    const recipients = await mailing.run(
      `select "to" from mails where "to" like '%@keys.example.com' order by 1`,
    );
    assert.deepEqual(recipients.flat(), ["ada@keys.example.com", "grace@keys.example.com"]);
    // The first poll tried it; the second one did not.
    assert.equal(reports.filter((line) => /expires soon failed and is set aside/.test(line)).length, 1);
  });
});

test("an entry that fails is retried with increasing delays until it succeeds", async () => {
  let now = 0;
  let isBroken = true;
  const done: string[] = [];
  const attempts: number[] = [];
  const queue: QueueSource<string> = {
    page: async (last?: string) => (last === undefined ? ["bad", "good"] : []),
    idOf: (entry: string) => entry,
    process: async (entry: string) => {
      if (entry === "bad") attempts.push(now);
      if (entry === "bad" && isBroken) throw new Error("bad");
      done.push(entry);
    },
  };
  const entries = new TransactionalQueue(
    queue,
    "an entry",
    () => {},
    () => now,
  );
  for (; now < 120_000; now += 1_000) await entries.run();
  assert.deepEqual(attempts, [0, 5_000, 25_000, 105_000]);
  assert.equal(done.includes("bad"), false);
  isBroken = false;
  now += 600_000;
  await entries.run();
  assert.ok(done.includes("bad"));
});

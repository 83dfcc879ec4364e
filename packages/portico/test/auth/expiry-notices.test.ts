// Owners of keys that expire soon are notified once, no matter how many processes run.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ExpiryNotifier } from "../../src/auth/api-keys/expiry-notices.ts";
import { systemCaller } from "../../src/auth/system-caller.ts";
import { users } from "../../src/auth/users/resource.ts";
import type { Report } from "../../src/lib/report.ts";
import { KeyExpiryEmails } from "../../src/mail/key-emails.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { apiKeys, EmailWorkspace, model } from "../mail/email-workspace.ts";
import { onEachDatabase } from "../support/server.ts";

const day = 24 * 60 * 60 * 1000;
const soon = 7 * day;
const reports: string[] = [];
const report: Report = (message) => void reports.push(message);

onEachDatabase("expiry notices", (database) => {
  let mailing: EmailWorkspace;
  let other: Store;
  let ada: string;
  before(async () => {
    mailing = await EmailWorkspace.begin(database);
    other = await openStore(mailing.workspace.databaseUrl);
    const caller = systemCaller(model, mailing.tenantId);
    ada = await mailing.engine.inTransaction(
      caller,
      async (rows) => (await rows.create(users, { name: "Ada", email: "ada@example.com" })).id,
    );
  });
  after(async () => {
    await other?.database.close();
    await mailing?.end();
  });

  const makeNotifier = (store = mailing.store): ExpiryNotifier => {
    const emailSettings = {
      apiName: "Blog",
      keysUrl: "https://example.com/v1/api-keys",
      status: "kept",
    } as const;
    return new ExpiryNotifier(store, model, new KeyExpiryEmails(store, model, emailSettings), soon, report);
  };
  const makeKeys = async (count: number, name: string, inMs: number, ownerId: string | null = ada) => {
    const expiresAt = new Date(Date.now() + inMs).toISOString();
    await mailing.engine.inTransaction(systemCaller(model, mailing.tenantId), async (rows, session) => {
      for (let index = 0; index < count; index += 1) {
        const { id } = await rows.create(apiKeys, { name, scopes: ["users:read"], ownerId });
        const age = `update api_keys set expires_at = '${expiresAt}' where id = '${id}'`;
        await session.query({ sql: age, bind: () => [] }, undefined);
      }
    });
  };
  /** The subjects of the emails since the last call. */
  const newSubjects = async (): Promise<string[]> => {
    const rows = await mailing.run('delete from mails returning subject, "to", kind, status, text');
    for (const [, to, kind, status, text] of rows) {
      assert.deepEqual([to, kind, status], ["ada@example.com", "api_key.expiring_soon", "kept"]);
      assert.match(String(text), /sk_test_[\w-]{4}…/);
    }
    return rows.map(([subject]) => String(subject).split('"')[1]!);
  };

  test("are sent for keys that expire within the period, and for no others", async () => {
    await makeKeys(1, "in six days", 6 * day);
    await makeKeys(1, "in eight days", 8 * day);
    await makeKeys(1, "yesterday", -day);
    await makeKeys(1, "nobody's", 6 * day, null);
    await makeKeys(1, "revoked", 6 * day);
    await mailing.run("update api_keys set revoked_at = expires_at where name = 'revoked'");
    await makeNotifier().poll();
    assert.deepEqual(await newSubjects(), ["in six days"]);
  });

  test("are sent once, also with two processes", async () => {
    await makeNotifier().poll();
    await makeNotifier(other).poll();
    assert.deepEqual(await newSubjects(), []);
  });

  test("are sent once for each of many keys, while two processes poll concurrently", async () => {
    const count = 230;
    await makeKeys(count, "many", 5 * day);
    const watches = [makeNotifier(), makeNotifier(other), makeNotifier(), makeNotifier(other)];
    await Promise.all(watches.map((each) => each.poll()));
    assert.equal((await newSubjects()).length, count);
    const rows = await mailing.run("select 1 from api_keys where name = 'many' and expiry_notice_at is null");
    assert.equal(rows.length, 0);
  });

  test("if a notice cannot be queued, the key is not marked as notified", async () => {
    await makeKeys(1, "later", day);
    const failing = { expiringSoon: () => Promise.reject(new Error("no")) };
    await new ExpiryNotifier(mailing.store, model, failing, soon, report).poll();
    assert.match(reports.at(-1)!, /set aside/);
    await makeNotifier().poll();
    assert.deepEqual(await newSubjects(), ["later"]);
  });
});

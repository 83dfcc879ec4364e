// Emails about changes to a key: sent to its owner, queued in the transaction of the change, with the credential that made it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { systemCaller } from "../../src/auth/system-caller.ts";
import { createTenant } from "../../src/auth/tenants/tenant.ts";
import { users } from "../../src/auth/users/resource.ts";
import type { Caller } from "../../src/declare/caller.ts";
import { KeyEmails, type KeyNotifications } from "../../src/mail/key-emails.ts";
import { onEachDatabase } from "../support/server.ts";
import { apiKeys, EmailWorkspace, model } from "./email-workspace.ts";

const now = "2026-11-21T09:30:00.000Z";
const prefix = "sk_test_AH-f";
const keyId = "api_key_01m7ykwps4fvprdm0p6dx1sk9c";

onEachDatabase("emails about keys", (database) => {
  let mailing: EmailWorkspace;
  let ada: string;
  let adminKey: { id: string; prefix: string };
  const notices: KeyNotifications = new KeyEmails(
    {
      user: (rows, id) => rows.get(users, id),
      key: (rows, id) => rows.get(apiKeys, id),
    },
    { apiName: "Blog", keysUrl: "https://api.example.com/v1/api-keys", status: "kept" },
  );
  const keyOf = (ownerId: string | null) => ({
    id: keyId,
    name: "Deploy",
    prefix,
    scopes: ["users:read"],
    expiresAt: "2027-11-21T08:34:44.643Z",
    ownerId,
  });
  const command = (): Caller => systemCaller(model, mailing.tenantId);
  const request = (): Caller => ({
    tenantId: mailing.tenantId,
    kind: "key",
    userId: ada,
    role: "owner",
    credentialId: adminKey.id,
    scopes: new Set(["keys:manage"]),
    address: "192.0.2.7",
  });
  const within = (
    caller: Caller,
    work: (context: Parameters<KeyNotifications["created"]>[1]) => Promise<void>,
  ) => mailing.engine.inTransaction(caller, (rows) => work({ caller, now, rows, returnOnce() {} }));
  /** The emails since the last call. */
  const emails = async () => {
    const rows = await mailing.run(
      'delete from mails returning tenant_no, "to", kind, subject, status, text, html, attempts',
    );
    const tenantIdOf = await mailing.store.tenants.findIds(
      mailing.store.database,
      rows.map(([tenantNo]) => tenantNo as number),
    );
    return rows.map(([tenantNo, to, kind, subject, status, text, html]) => ({
      tenantId: tenantIdOf(tenantNo as number),
      to,
      kind,
      subject,
      status,
      text: String(text),
      html: String(html),
    }));
  };

  before(async () => {
    mailing = await EmailWorkspace.begin(database);
    const { engine } = mailing;
    ada = await engine.inTransaction(
      command(),
      async (rows) => (await rows.create(users, { name: "Ada", email: "ada@example.com" })).id,
    );
    const body = { name: "Admin", scopes: ["users:read"], ownerId: ada };
    adminKey = await engine.inTransaction(command(), (rows) => rows.create(apiKeys, body));
  });
  after(() => mailing?.end());

  test("the owner gets an email about a new key, with the key that created it and the address", async () => {
    await within(request(), (context) => notices.created(keyOf(ada), context));
    const [email, ...more] = await emails();
    assert.equal(more.length, 0);
    assert.partialDeepStrictEqual(email, {
      tenantId: mailing.tenantId,
      to: "ada@example.com",
      kind: "api_key.created",
      subject: 'API key "Deploy" was created',
      status: "kept",
    });
    assert.ok(email!.text.includes(`the API key Admin (${adminKey.prefix}…) of Ada\n`));
    assert.ok(email!.text.includes("192.0.2.7"));
    assert.ok(email!.html.includes(`the API key Admin (${adminKey.prefix}…) of Ada<`));
  });

  test("the email about a rotation names both keys, that about a revocation one, and commands are named", async () => {
    const replacement = { ...keyOf(ada), id: adminKey.id, prefix: "sk_test_IYdk" };
    await within(command(), async (context) => {
      await notices.rotated(keyOf(ada), replacement, context);
      await notices.revoked(keyOf(ada), context);
    });
    const sent = await emails();
    assert.deepEqual(sent.map(({ kind }) => kind).sort(), ["api_key.revoked", "api_key.rotated"]);
    assert.ok(sent.some(({ text }) => text.includes("sk_test_IYdk…")));
    for (const { text } of sent) assert.ok(text.includes("a command on the server\n"));
  });

  test("a credential other than a key is named by its id", async () => {
    const caller = { ...request(), userId: null, credentialId: "client_1" };
    await within(caller, (context) => notices.revoked(keyOf(ada), context));
    const [email] = await emails();
    assert.match(email!.text, /^ {2}By: +client_1$/m);
  });

  test("a rolled-back change sends no email", async () => {
    const rolledBack = within(request(), async (context) => {
      await notices.created(keyOf(ada), context);
      throw new Error("undone");
    });
    await assert.rejects(rolledBack, /undone/);
    assert.deepEqual(await emails(), []);
  });

  test("a key without an owner, or with an owner of another tenant, causes no email", async () => {
    await within(request(), (context) => notices.created(keyOf(null), context));
    const { id } = await createTenant(mailing.store, "Another");
    await within({ ...request(), tenantId: id }, (context) => notices.created(keyOf(ada), context));
    assert.deepEqual(await emails(), []);
  });

  test("other members of a key's record are not in the email", async () => {
    const record = { ...keyOf(ada), key: "sk_test_whole", keyHash: "0123456789abcdef" };
    await within(request(), (context) => notices.created(record, context));
    await within(request(), (context) => notices.rotated(record, record, context));
    for (const email of await emails())
      assert.doesNotMatch(JSON.stringify(email), /sk_test_whole|0123456789abcdef/);
  });
});

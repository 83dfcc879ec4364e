// Emails of a running server: stored in a sandbox, waiting in live mode, sent if there is a mail server. No failure
// of a mail server delays a request or loses an email.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Outbox } from "../../../src/mail/outbox.ts";
import { EmailSender } from "../../../src/mail/sender.ts";
import { openTransport } from "../../../src/mail/transport.ts";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { model } from "../../mail/email-workspace.ts";
import { MailServer } from "../../support/mail-server.ts";
import { runCommand } from "../../support/scenario.ts";
import {
  type Environment,
  makeWorkspace,
  onEachDatabase,
  Portico,
  PorticoProcess,
  portico,
  type Workspace,
} from "../../support/server.ts";

const secret = "s".repeat(32);
const inThreeDays = (): string => new Date(Date.now() + 3 * 24 * 60 * 60 * 1000).toISOString();

interface ListedMail {
  readonly id: string;
  readonly status: string;
  readonly subject: string;
  readonly lastError: string | null;
}

onEachDatabase("mail", (database) => {
  let workspace: Workspace;
  let store: Store;
  let firstKey: string;
  before(async () => {
    workspace = await makeWorkspace(database);
    // Creates the tenant, the user and the tables that every test uses.
    const first = await Portico.start(workspace);
    firstKey = first.key;
    await first.stop();
    store = await openStore(workspace.databaseUrl);
  });
  after(async () => {
    await store?.database.close();
    await workspace?.remove();
  });

  const makeKey = (name: string, env: Environment = {}) =>
    runCommand(
      workspace,
      ["key", "create", "--name", name, "--scopes", "posts:read", "--expires-at", inThreeDays()],
      {
        env,
      },
    );
  const mailsOf = async (name: string): Promise<ListedMail[]> => {
    const statement = "select id, status, subject, last_error from mails order by created_at";
    const rows = await store.database.query({ sql: statement, bind: () => [] }, undefined);
    return (rows as readonly string[][])
      .map(([id, status, subject, lastError]) => ({
        id: id!,
        status: status!,
        subject: subject!,
        lastError: lastError!,
      }))
      .filter(({ subject }) => subject.includes(`"${name}" expires`));
  };
  const waitFor = async (isReached: () => boolean | Promise<boolean>): Promise<void> => {
    for (const end = Date.now() + 15_000; !(await isReached()); await sleep(20))
      assert.ok(Date.now() < end, "the condition was not met in time");
  };

  test("a sandbox without a mail server stores its emails, and commands show them", async () => {
    const { id: keyId, key } = await makeKey("Kept");
    const server = await Portico.start(workspace);
    await waitFor(async () => (await mailsOf("Kept")).length > 0);
    await server.stop();
    const [mail] = (await runCommand(workspace, ["mail", "list"])).mails;
    assert.deepEqual(Object.keys(mail!), [
      "id",
      "to",
      "subject",
      "text",
      "html",
      "kind",
      "status",
      "attempts",
      "nextAttemptAt",
      "sentAt",
      "lastError",
      "createdAt",
      "updatedAt",
    ]);
    assert.partialDeepStrictEqual(mail, {
      to: "ada@example.com",
      kind: "api_key.expiring_soon",
      status: "kept",
      sentAt: null,
      attempts: 0,
      lastError: null,
    });
    const { stdout } = await portico(workspace, ["mail", "show", mail!.id]);
    assert.match(stdout, /^To: ada@example\.com\nSubject: API key "Kept" expires on /);
    assert.ok(stdout.includes(`/v1/api-keys/${keyId}/rotations`));
    assert.ok(!stdout.includes(key));
    const list = await portico(workspace, ["mail", "list", "--limit", "1"]);
    assert.match(list.stdout, /^mail_\w{26} {2}\S+Z {2}kept +ada@example\.com {2}API key "Kept" [^\n]+\n$/);
  });

  test("emails of another tenant are not shown, and an invalid id is refused", async () => {
    const { tenant } = await runCommand(workspace, ["tenant", "create", "--name", "Another"]);
    const [mail] = await mailsOf("Kept");
    const { mails } = await runCommand(workspace, ["mail", "list", "--tenant", tenant.id]);
    assert.deepEqual(mails, []);
    for (const words of [[mail!.id, "--tenant", tenant.id], ["nothing"], [`${mail!.id}x`]]) {
      const { code, stderr } = await portico(workspace, ["mail", "show", ...words]);
      assert.deepEqual(
        [code, /^portico: There is no mail with this id\.\n$/.test(stderr)],
        [1, true],
        stderr,
      );
    }
  });

  test("with a mail server a notice is sent once, even across restarts", async () => {
    const mailServer = await MailServer.start();
    try {
      const env = { SMTP_URL: mailServer.url, MAIL_FROM: "Keys <keys@example.org>" };
      await makeKey("Sent");
      const first = await Portico.start(workspace, { env });
      await waitFor(async () => (await mailsOf("Sent"))[0]?.status === "sent");
      await first.stop();
      const second = await Portico.start(workspace, { env });
      await sleep(1_500);
      await second.stop();
      const received = mailServer.received.filter(({ headers }) =>
        headers.get("subject")!.includes('"Sent" expires'),
      );
      assert.equal(received.length, 1);
      assert.equal(received[0]!.headers.get("from"), "Keys <keys@example.org>");
      assert.match(received[0]!.headers.get("message-id")!, /^<mail_\w{26}@example\.org>$/);
      assert.match(received[0]!.parts.get("text/plain")!, /Hello Ada Lovelace,/);
      assert.match(received[0]!.parts.get("text/html")!, /<p>Hello Ada Lovelace,<\/p>/);
      // An email that was stored before there was a mail server stays unsent until somebody sends it.
      const [stored] = await mailsOf("Kept");
      assert.equal(stored!.status, "kept");
      const third = await Portico.start(workspace, { env });
      try {
        const { mail } = await runCommand(workspace, ["mail", "resend", stored!.id]);
        assert.deepEqual([mail.status, mail.attempts, mail.sentAt], ["waiting", 0, null]);
        await waitFor(async () => (await mailsOf("Kept"))[0]?.status === "sent");
      } finally {
        await third.stop();
      }
    } finally {
      await mailServer.stop();
    }
  });

  test("the owner of a key gets an email when it is created, rotated and revoked over HTTP, which names who did it", async () => {
    const mailServer = await MailServer.start();
    const server = await Portico.start(workspace, {
      env: { SMTP_URL: mailServer.url },
      key: firstKey,
    });
    try {
      const body = { name: "<b>CI</b>", scopes: ["posts:read"] };
      const created = (await server.request("/v1/api-keys", { body })).body;
      const rotations = `/v1/api-keys/${created.id}/rotations`;
      const replacement = (await server.request(rotations, { method: "POST", body: {} })).body;
      assert.equal(replacement.rotatedFromId, created.id);
      const revoked = await server.request(`/v1/api-keys/${replacement.id}`, { method: "DELETE" });
      assert.equal(revoked.status, 204);
      await waitFor(() => mailServer.received.length === 3);
      const emails = new Map(
        mailServer.received.map((mail) => [mail.headers.get("subject")!.split(" ").at(-1), mail]),
      );
      assert.deepEqual([...emails.keys()].sort(), ["created", "revoked", "rotated"]);
      for (const { to, parts, raw } of emails.values()) {
        assert.equal(to, "ada@example.com");
        assert.match(
          parts.get("text/plain")!,
          /^ {2}By: +the API key First key \(sk_test_[\w-]{4}…\) of Ada Lovelace$/m,
        );
        assert.match(parts.get("text/plain")!, /^ {2}From: +127\.0\.0\.1$/m);
        assert.ok(parts.get("text/html")!.includes("&lt;b&gt;CI&lt;/b&gt;"));
        for (const key of [created.key, replacement.key, firstKey]) assert.ok(!raw.includes(key.slice(12)));
      }
      const rotated = emails.get("rotated")!.parts.get("text/plain")!;
      assert.ok(rotated.includes(created.prefix) && rotated.includes(replacement.prefix));
    } finally {
      await server.stop();
      // The old key expires in a day, which its owner already knows.
      const again = await Portico.start(workspace, { env: { SMTP_URL: mailServer.url } });
      await sleep(500);
      await again.stop();
      await mailServer.stop();
    }
    assert.equal(mailServer.received.length, 3);
  });

  test("a mail server that does not respond delays no request, and a stop waits until it has", async () => {
    const release = Promise.withResolvers<void>();
    const mailServer = await MailServer.start({ delay: () => release.promise });
    try {
      const { key } = await makeKey("Slow");
      const server = await Portico.start(workspace, { env: { SMTP_URL: mailServer.url }, key });
      await waitFor(() => mailServer.received.length > 0);
      for (let requests = 0; requests < 20; requests += 1)
        assert.equal((await server.request("/posts")).status, 200);
      const stopped = server.stop();
      await sleep(200);
      release.resolve();
      assert.equal(await stopped, 0);
      assert.equal((await mailsOf("Slow"))[0]!.status, "sent");
      assert.equal(mailServer.received.length, 1);
    } finally {
      release.resolve();
      await mailServer.stop();
    }
  });

  test("a process that is killed while it sends loses no email: another sends it when the lease has expired", async () => {
    const release = Promise.withResolvers<void>();
    let isBlocked = true;
    const mailServer = await MailServer.start({
      delay: () => (isBlocked ? release.promise : Promise.resolve()),
    });
    try {
      await makeKey("Killed");
      const server = await PorticoProcess.start(workspace, { env: { SMTP_URL: mailServer.url } });
      await waitFor(() => mailServer.received.length > 0);
      await server.kill();
      isBlocked = false;
      release.resolve();
      assert.equal((await mailsOf("Killed"))[0]!.status, "waiting");

      const quiet = { info() {}, warn() {} };
      const from = { name: "", address: "no-reply@example.com" };
      const senderAt = async (aheadMs: number): Promise<EmailSender> =>
        new EmailSender(
          new Outbox(store, model, () => {}),
          await openTransport(mailServer.url, from),
          quiet,
          () => Date.now() + aheadMs,
        );
      const early = await senderAt(0);
      await early.poll();
      await early.stop(5_000);
      assert.equal(mailServer.received.length, 1);
      const late = await senderAt(130_000);
      await late.poll();
      await late.stop(5_000);
      assert.equal((await mailsOf("Killed"))[0]!.status, "sent");
      // It was received twice, which the recipient can detect.
      const ids = mailServer.received.map(({ headers }) => headers.get("message-id")!.split("@")[0]);
      assert.deepEqual([ids.length, new Set(ids).size], [2, 1]);
    } finally {
      release.resolve();
      await mailServer.stop();
    }
  });

  test("live without a mail server, emails wait until there is one, and the start says so", async () => {
    const live = { PORTICO_MODE: "live", PORTICO_SECRET: secret };
    await makeKey("Waiting", live);
    const without = await Portico.start(workspace, { env: live });
    await waitFor(async () => (await mailsOf("Waiting")).length > 0);
    await waitFor(() => without.output.includes("SMTP_URL is not set"));
    await without.stop();
    assert.equal((await mailsOf("Waiting"))[0]!.status, "waiting");
    const mailServer = await MailServer.start();
    try {
      const server = await Portico.start(workspace, { env: { ...live, SMTP_URL: mailServer.url } });
      await waitFor(async () => (await mailsOf("Waiting"))[0]!.status === "sent");
      await server.stop();
      assert.doesNotMatch(server.output, /SMTP_URL/);
    } finally {
      await mailServer.stop();
    }
  });

  test("the password of the mail server is not in the log", async () => {
    const mailServer = await MailServer.start({ login: { user: "portico", password: "right" } });
    try {
      await makeKey("Refused");
      const url = `smtp://portico:S3cr3tPassword@127.0.0.1:${mailServer.port}`;
      const server = await Portico.start(workspace, { env: { SMTP_URL: url } });
      await waitFor(() => server.output.includes("mail not sent"));
      await server.stop();
      const listed = JSON.stringify(await mailsOf("Refused"));
      assert.match(listed, /535/);
      for (const form of ["S3cr3tPassword", Buffer.from("S3cr3tPassword").toString("base64")])
        assert.ok(!(server.output + listed).includes(form));
    } finally {
      await mailServer.stop();
    }
  });
});

// Emails are sent once, however the mail server responds and however many processes send.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Purge } from "../../src/jobs/purge.ts";
import { emailRetention } from "../../src/mail/message.ts";
import { openStore } from "../../src/store/open.ts";
import { freePort } from "../support/free-port.ts";
import { MailServer } from "../support/mail-server.ts";
import { onEachDatabase } from "../support/server.ts";
import { EmailWorkspace } from "./email-workspace.ts";

onEachDatabase("the sender", (database) => {
  let mailing: EmailWorkspace;
  before(async () => {
    mailing = await EmailWorkspace.begin(database);
  });
  after(() => mailing?.end());

  test("an email is sent once, as text and as HTML, and marked as sent", async () => {
    const server = await MailServer.start();
    try {
      const id = await mailing.write("ada@example.com", "Grüße, Ada");
      const sender = await mailing.sender(server.url);
      await sender.poll();
      const email = await mailing.until(id, ({ status }) => status === "sent");
      assert.equal(email.status, "sent");
      assert.deepEqual([email.attempts, email.lastError], [1, null]);
      assert.ok(email.sentAt);
      await sender.poll();
      await sleep(100);
      assert.equal(server.received.length, 1);
      const { headers, parts, from } = server.received[0]!;
      assert.equal(headers.get("subject"), "Grüße, Ada");
      assert.equal(headers.get("to"), "ada@example.com");
      assert.equal(headers.get("from"), "Mailing <no-reply@example.com>");
      assert.equal(headers.get("message-id"), `<${id}@example.com>`);
      assert.equal(headers.get("auto-submitted"), "auto-generated");
      assert.ok(Math.abs(Date.parse(headers.get("date")!) - Date.now()) < 60_000);
      assert.equal(from, "no-reply@example.com");
      assert.equal(parts.get("text/plain")?.trim(), "Grüße, Ada");
      assert.equal(parts.get("text/html")?.trim(), "<p>Grüße, Ada</p>");
    } finally {
      await server.stop();
    }
  });

  test("a response of 451 is retried with increasing delays", async () => {
    let refusals = 2;
    const refuse = (): number | undefined => (refusals-- > 0 ? 451 : undefined);
    const server = await MailServer.start({ refuse });
    try {
      const id = await mailing.write("grace@example.com");
      let now = Date.now();
      const sender = await mailing.sender(server.url, () => now);
      for (const [attempts, seconds] of [
        [1, 5],
        [2, 30],
      ] as const) {
        await sender.poll();
        const email = await mailing.settled(id, attempts);
        assert.deepEqual([email.status, email.attempts], ["waiting", attempts]);
        assert.match(email.lastError!, /451/);
        const wait = (Date.parse(email.nextAttemptAt) - now) / 1000;
        assert.ok(wait >= seconds * 0.8 && wait <= seconds * 1.2, `${wait} s`);
        now = Date.parse(email.nextAttemptAt) - 1;
        await sender.poll();
        assert.equal((await mailing.email(id)).attempts, attempts);
        now += 1;
      }
      await sender.poll();
      assert.equal((await mailing.until(id, ({ status }) => status === "sent")).attempts, 3);
      assert.equal(server.received.length, 1);
    } finally {
      await server.stop();
    }
  });

  test("an email waits while the server is down, and is sent when it is up", async () => {
    const port = await freePort();
    const id = await mailing.write("linus@example.com");
    let now = Date.now();
    const sender = await mailing.sender(`smtp://127.0.0.1:${port}`, () => now);
    await sender.poll();
    const down = await mailing.until(id, ({ lastError }) => lastError !== null);
    assert.equal(down.status, "waiting");
    assert.match(down.lastError!, /ECONNREFUSED/);
    const server = await MailServer.start({ port });
    try {
      now = Date.parse(down.nextAttemptAt);
      await sender.poll();
      const up = await mailing.until(id, ({ status }) => status === "sent");
      assert.deepEqual([up.status, up.attempts, up.lastError], ["sent", 2, null]);
      assert.deepEqual(server.subjectsTo("linus@example.com"), ["Hello"]);
    } finally {
      await server.stop();
    }
  });

  test("a permanent refusal of a recipient is not retried", async () => {
    const server = await MailServer.start({ refuse: () => 550 });
    try {
      const id = await mailing.write("nobody@example.com");
      await (await mailing.sender(server.url)).poll();
      const email = await mailing.until(id, ({ status }) => status !== "waiting");
      assert.deepEqual([email.status, email.attempts], ["failed", 1]);
      assert.match(email.lastError!, /550 no mail for nobody@example.com/);
    } finally {
      await server.stop();
    }
  });

  test("after ten attempts an email has failed", async () => {
    const server = await MailServer.start({ refuse: () => 451 });
    try {
      const id = await mailing.write("never@example.com");
      let now = Date.now();
      const sender = await mailing.sender(server.url, () => now);
      for (let attempts = 1; attempts < 10; attempts += 1) {
        await sender.poll();
        const email = await mailing.settled(id, attempts);
        assert.deepEqual([email.status, email.attempts], ["waiting", attempts]);
        now = Date.parse(email.nextAttemptAt);
      }
      await sender.poll();
      const email = await mailing.settled(id, 10);
      assert.deepEqual([email.status, email.attempts], ["failed", 10]);
    } finally {
      await server.stop();
    }
  });

  test("a password that the server repeats is neither stored nor logged", async () => {
    const password = "s3cret/and+more";
    const login = { user: "portico", password };
    const server = await MailServer.start({ login });
    try {
      const url = `smtp://portico:${encodeURIComponent(`${password}x`)}@127.0.0.1:${server.port}`;
      const id = await mailing.write("auth@example.com");
      const sender = await mailing.sender(url);
      await sender.poll();
      const email = await mailing.until(id, ({ lastError }) => lastError !== null);
      assert.equal(email.status, "waiting");
      assert.match(email.lastError!, /535.*\[redacted\]/);
      assert.ok(![email.lastError, ...mailing.lines].join("\n").includes("s3cret"));
    } finally {
      await server.stop();
    }
  });

  test("the sender logs in if the server requires it", async () => {
    const server = await MailServer.start({ login: { user: "portico", password: "right" } });
    try {
      const id = await mailing.write("login@example.com");
      await (await mailing.sender(server.url)).poll();
      assert.equal((await mailing.until(id, ({ status }) => status === "sent")).status, "sent");
    } finally {
      await server.stop();
    }
  });

  test("two senders on one database send each email once, five at a time", async () => {
    const server = await MailServer.start({ delay: () => sleep(5) });
    const otherStore = await openStore(mailing.workspace.databaseUrl);
    try {
      const count = 60;
      const ids = await Promise.all(
        Array.from({ length: count }, (_, index) => mailing.write(`many-${index}@example.com`)),
      );
      const senders = [
        await mailing.sender(server.url),
        await mailing.sender(server.url, Date.now, otherStore),
      ];
      await Promise.all(senders.map((sender) => sender.poll()));
      for (const id of ids)
        assert.equal((await mailing.until(id, ({ status }) => status === "sent")).status, "sent");
      const recipients = server.received.map(({ to }) => to).filter((to) => to.startsWith("many-"));
      assert.equal(recipients.length, count);
      assert.equal(new Set(recipients).size, count);
      assert.ok(server.mostConnections <= 10, `${server.mostConnections} connections`);
      for (const sender of senders) await sender.stop(1_000);
    } finally {
      await otherStore.database.close();
      await server.stop();
    }
  });

  test("a sender that stops finishes emails in progress, and returns those that take too long to the queue", async () => {
    const gate = Promise.withResolvers<void>();
    let isFirst = true;
    const hesitate = async (): Promise<void> => {
      if (isFirst) {
        isFirst = false;
        await sleep(200);
        return;
      }
      await gate.promise;
    };
    const server = await MailServer.start({ delay: hesitate });
    try {
      const quick = await mailing.write("quick@example.com");
      const first = await mailing.sender(server.url);
      await first.poll();
      await first.stop(5_000);
      assert.equal((await mailing.email(quick)).status, "sent");

      const slow = await mailing.write("slow@example.com");
      const second = await mailing.sender(server.url);
      await second.poll();
      await sleep(100);
      await second.stop(100);
      const returned = await mailing.email(slow);
      assert.equal(returned.status, "waiting");
      assert.ok(Date.parse(returned.nextAttemptAt) <= Date.now());
      await mailing.write("late@example.com");
      await second.poll();
      assert.equal(server.subjectsTo("late@example.com").length, 0);
    } finally {
      gate.resolve();
      await server.stop();
      await mailing.run("update mails set status = 'kept' where status = 'waiting'");
    }
  });

  test("old emails are deleted unless they are still waiting", async () => {
    const ids = await Promise.all(
      ["waiting", "sent", "kept", "failed"].map(async (status) => {
        const id = await mailing.write("old@example.com");
        await mailing.run(
          `update mails set status = '${status}', created_at = '2026-01-01T00:00:00.000Z' where id = '${id}'`,
        );
        return id;
      }),
    );
    const young = await mailing.write("young@example.com");
    await mailing.run(`update mails set status = 'sent' where id = '${young}'`);
    const report = (message: string): never => assert.fail(message);
    await new Purge(mailing.store, [emailRetention(1)], report).purgeAll();
    const remaining = await mailing.run("select id from mails");
    const remains = (id: string): boolean => remaining.some(([each]) => each === id);
    assert.deepEqual([...ids, young].map(remains), [true, false, false, false, true]);
  });

  test("polling uses an index", async () => {
    if (database === "postgres") return;
    const plan = await mailing.run(
      "explain query plan select 1 from mails where status = 'waiting' and next_attempt_at <= 'x' limit 1",
    );
    assert.match(String(plan[0]?.[3]), /USING COVERING INDEX portico_mails_status_next_attempt_at/);
  });

  test("emails do not record events", async () => {
    const events = await mailing.run("select 1 from events where resource = 'mail'");
    assert.equal(events.length, 0);
  });
});

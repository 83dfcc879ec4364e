// One bad record holds up no other, in any queue of the server.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Browser } from "../../support/browser.ts";
import { openReader } from "../../support/database-reader.ts";
import { emailTo, linkIn } from "../../support/emails.ts";
import { titlesOf, withStream } from "../../support/graphql/subscriptions.ts";
import { authorizeUrl, makePerson, makePublicClient } from "../../support/oauth.ts";
import { refusal } from "../../support/refusal.ts";
import { serveProcess } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

onEachDatabase("queues of a server", (database) => {
  const served = serveProcess(database);
  const write = async (sql: string): Promise<void> => {
    const reader = openReader(served.workspace.databaseUrl);
    try {
      await reader.write(sql);
    } finally {
      await reader.close();
    }
  };
  const count = async (sql: string): Promise<number> => {
    const reader = openReader(served.workspace.databaseUrl);
    try {
      return Number((await reader.rows(sql))[0]![0]);
    } finally {
      await reader.close();
    }
  };
  const until = async (sql: string, wanted: number): Promise<void> => {
    let found = -1;
    for (const end = Date.now() + 15_000; Date.now() < end; await sleep(200)) {
      found = await count(sql);
      if (found === wanted) return;
    }
    assert.fail(`${sql}: ${found} instead of ${wanted}`);
  };

  test("an email that somebody asked for and that cannot be written", async () => {
    const client = await makePublicClient(served, "openid");
    const people = [];
    for (const name of ["poison", "first", "second"])
      people.push(await makePerson(served, `${name}@example.com`));
    await write(refusal(database, "insert", "mails", `new."to" = 'poison@example.com'`));
    for (const { email } of people) {
      const browser = new Browser();
      const { text } = await browser.follow(authorizeUrl(served, client, "openid").url);
      const [, path] = /<a href="([^"]+)">Forgot your password\?<\/a>/.exec(text) ?? [];
      const page = await browser.open(new URL(path!, served.url).href);
      assert.equal((await browser.submit(page, { email })).status, 200);
    }
    for (const { email } of people.slice(1)) linkIn(await emailTo(served, email, "account.password_link"));
    for (const end = Date.now() + 10_000; Date.now() < end; await sleep(200))
      if (served.portico.output.includes("is set aside")) return;
    assert.fail("the email that cannot be written is not in the log");
  });

  test("a changed address about which no email can be written", async () => {
    const [poison, other] = [
      await makePerson(served, "poison2@example.com"),
      await makePerson(served, "other@example.com"),
    ];
    await write(refusal(database, "update", "email_changes", "new.email = 'refused@example.com'"));
    const change = (id: string, email: string) =>
      served.request(`/users/${id}`, { method: "PATCH", body: { email } });
    assert.equal((await change(poison.id, "refused@example.com")).status, 200);
    assert.equal((await change(other.id, "moved@example.com")).status, 200);
    await emailTo(served, "moved@example.com", "account.email_link");
  });

  test("a use of a key that cannot be written", async () => {
    const keys = [];
    for (const name of ["Poison", "Other"])
      keys.push(await served.create("/v1/api-keys", { name, scopes: ["posts:read"] }));
    const [poison, other] = keys;
    await write(refusal(database, "insert", "request_logs", `new.key_id = '${poison.id}'`));
    for (const { key } of keys) assert.equal((await served.request("/posts", { key })).status, 200);
    await until(`select count(*) from request_logs where key_id = '${other.id}'`, 1);
    assert.equal(await count(`select count(*) from request_logs where key_id = '${poison.id}'`), 0);
    // What comes later is written as well.
    assert.equal((await served.request("/posts", { key: other.key })).status, 200);
    await until(`select count(*) from request_logs where key_id = '${other.id}'`, 2);
  });

  test("an event that cannot be read", () =>
    withStream(served.portico, "subscription { postCreated { title } }", {}, async (stream) => {
      await served.create("/posts", { title: "Before" });
      await stream.results(1);
      // PostgreSQL keeps JSON only, which may still be no row.
      const unreadable = database === "sqlite" ? "'{'" : "'null'";
      await write(`insert into events (id, tenant_id, resource, kind, row_id, row, credential_id, created_at)
        select 'planted', tenant_id, resource, kind, row_id, ${unreadable}, credential_id, created_at from events
          where resource = 'post' limit 1`);
      await served.create("/posts", { title: "After" });
      const results = await stream.results(2);
      assert.deepEqual(titlesOf(results), ["Before", "After"]);
    }));
});

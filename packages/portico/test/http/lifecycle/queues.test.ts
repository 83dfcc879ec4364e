// One record that cannot be processed does not block others, in any queue of the server.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Browser } from "../../support/browser.ts";
import { countDirectly, writeDirectly } from "../../support/database-reader.ts";
import { emailTo, linkIn } from "../../support/emails.ts";
import { titlesOf, withStream } from "../../support/graphql/subscriptions.ts";
import { authorizeUrl, makePublicClient, makeUser } from "../../support/oauth.ts";
import { refusal } from "../../support/refusal.ts";
import { serveProcess } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

onEachDatabase("queues of a server", (database) => {
  const server = serveProcess(database);
  const write = (sql: string) => writeDirectly(server.workspace.databaseUrl, sql);
  const count = (sql: string) => countDirectly(server.workspace.databaseUrl, sql);
  const until = async (sql: string, wanted: number): Promise<void> => {
    let rowCount = -1;
    for (const end = Date.now() + 15_000; Date.now() < end; await sleep(200)) {
      rowCount = await count(sql);
      if (rowCount === wanted) return;
    }
    assert.fail(`${sql}: ${rowCount} instead of ${wanted}`);
  };

  test("an email that a user requested and that cannot be written does not block others", async () => {
    const client = await makePublicClient(server, "openid");
    const users = [];
    for (const name of ["poison", "first", "second"])
      users.push(await makeUser(server, `${name}@example.com`));
    await write(refusal(database, "insert", "mails", `new."to" = 'poison@example.com'`));
    for (const { email } of users) {
      const browser = new Browser();
      const { text } = await browser.follow(authorizeUrl(server, client, "openid").url);
      const [, path] = /<a href="([^"]+)">Forgot your password\?<\/a>/.exec(text) ?? [];
      const page = await browser.open(new URL(path!, server.url).href);
      assert.equal((await browser.submit(page, { email })).status, 200);
    }
    for (const { email } of users.slice(1)) linkIn(await emailTo(server, email, "account.password_link"));
    for (const end = Date.now() + 10_000; Date.now() < end; await sleep(200))
      if (server.portico.output.includes("is set aside")) return;
    assert.fail("the email that cannot be written is not in the log");
  });

  test("a changed email address whose email cannot be written does not block others", async () => {
    const [poison, other] = [
      await makeUser(server, "poison2@example.com"),
      await makeUser(server, "other@example.com"),
    ];
    await write(refusal(database, "update", "email_changes", "new.email = 'refused@example.com'"));
    const change = (id: string, email: string) =>
      server.request(`/users/${id}`, { method: "PATCH", body: { email } });
    assert.equal((await change(poison.id, "refused@example.com")).status, 200);
    assert.equal((await change(other.id, "moved@example.com")).status, 200);
    await emailTo(server, "moved@example.com", "account.email_link");
  });

  test("a use of a key that cannot be written does not block others", async () => {
    const keys = [];
    for (const name of ["Poison", "Other"])
      keys.push(await server.create("/v1/api-keys", { name, scopes: ["posts:read"] }));
    const [poison, other] = keys;
    await write(refusal(database, "insert", "request_logs", `new.key_id = '${poison.id}'`));
    for (const { key } of keys) assert.equal((await server.request("/posts", { key })).status, 200);
    await until(`select count(*) from request_logs where key_id = '${other.id}'`, 1);
    assert.equal(await count(`select count(*) from request_logs where key_id = '${poison.id}'`), 0);
    // Later uses are written as well.
    assert.equal((await server.request("/posts", { key: other.key })).status, 200);
    await until(`select count(*) from request_logs where key_id = '${other.id}'`, 2);
  });

  test("an event that cannot be read does not block others", () =>
    withStream(server.portico, "subscription { postCreated { title } }", {}, async (stream) => {
      await server.create("/posts", { title: "Before" });
      await stream.results(1);
      // PostgreSQL stores valid JSON only, which may still not be a row.
      const unreadable = database === "sqlite" ? "'{'" : "'null'";
      await write(`insert into events (id, tenant_no, resource, kind, row_id, row, credential_id, created_at)
        select 'planted', tenant_no, resource, kind, row_id, ${unreadable}, credential_id, created_at from events
          where resource = 'post' limit 1`);
      await server.create("/posts", { title: "After" });
      const results = await stream.results(2);
      assert.deepEqual(titlesOf(results), ["Before", "After"]);
    }));
});

// Credentials without a role manage users only as far as their own scopes reach, and a deleted user leaves no records.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { Browser } from "../../support/browser.ts";
import { countDirectly } from "../../support/database-reader.ts";
import { emailTo } from "../../support/emails.ts";
import { makeKey } from "../../support/keys.ts";
import { authorizeUrl, makePublicClient, makeUser, signInAndAllow } from "../../support/oauth.ts";
import { expectAnswer, makeTenant, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/people");
const forbidden = { status: 403, code: "forbidden" } as const;

onEachDatabase("what credentials and people leave behind", (database) => {
  const server = serve(database, { cwd });

  test("a key without an owner manages users with the default role, and with roles whose scopes it has", async () => {
    const { tenant } = await server.command("tenant", "create", "--name", "Provisioned");
    const keyWith = async (scopes: string): Promise<string> =>
      (await server.command("key", "create", "--name", "K", "--scopes", scopes, "--tenant", tenant.id)).key;
    const [every, few, more] = [
      await keyWith("*"),
      await keyWith("users:read,users:write"),
      await keyWith("projects:read,projects:write,users:read,users:write"),
    ];
    const create = (role: string) =>
      server.create("/users", { name: role, email: `${role}@example.com`, role }, { key: every });
    await create("owner");
    const [admin, support, member] = [await create("admin"), await create("support"), await create("member")];
    const change = (key: string, { id }: { id: string }, body: object) =>
      server.request(`/users/${id}`, { method: "PATCH", key, body });
    for (const body of [{ email: "taken@example.com" }, { active: false }, { role: "member" }])
      expectAnswer(await change(few, admin, body), {
        ...forbidden,
        message: /projects:read of the role admin/,
      });
    expectAnswer(await server.request(`/users/${admin.id}`, { method: "DELETE", key: few }), forbidden);
    for (const user of [support, member])
      expectAnswer(await change(few, user, { active: false }), { status: 200, body: { active: false } });
    expectAnswer(await change(more, admin, { active: false }), { status: 200 });
    expectAnswer(await change(few, member, { role: "support" }), { status: 200 });
    const added = { key: few, body: { name: "Added", email: "added@example.com" } };
    expectAnswer(await server.request("/users", added), { status: 201, body: { role: "member" } });
  });

  test("deleting a user deletes their sessions, grants, links and keys", async () => {
    const user = await makeUser(server, "leaving@example.com");
    const client = await makePublicClient(server, "openid,offline_access");
    const browser = new Browser();
    await signInAndAllow(browser, authorizeUrl(server, client, "openid offline_access").url, user);
    await makeKey(server, { ownerId: user.id, scopes: ["projects:read"] });
    await browser.submit(await browser.open(`${server.url}/oauth/account`), {});
    // The link is stored with the email. Without waiting, that could happen while the user is deleted.
    await emailTo(server, "leaving@example.com", "account.email_link");
    const count = (sql: string) => countDirectly(server.workspace.databaseUrl, sql);
    const records = `select count(*) from oauth_records where account_id = '${user.id}'`;
    assert.ok((await count(records)) >= 2);
    expectAnswer(await server.request(`/users/${user.id}`, { method: "DELETE" }), { status: 204 });
    assert.equal(await count(records), 0);
    assert.equal(await count(`select count(*) from api_keys where owner_id = '${user.id}'`), 0);
    assert.equal((await browser.open(`${server.url}/oauth/account`)).status, 401);
  });

  test("a tenant's key manages nobody of another tenant", async () => {
    const other = await makeTenant(server.workspace, "*", { cwd });
    const user = await makeUser(server, "ours@example.com");
    const attempt = { method: "PATCH", key: other.key, body: { active: false } };
    expectAnswer(await server.request(`/users/${user.id}`, attempt), { status: 404 });
  });
});

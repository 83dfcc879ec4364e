// A database from before roles: who becomes the owner of each tenant.

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { openReader } from "../../support/database-reader.ts";
import { makeWorkspace, onEachDatabase, Portico, portico, type Workspace } from "../../support/server.ts";

const live = { PORTICO_MODE: "live", PORTICO_SECRET: "a secret of the tests that is long enough" };

onEachDatabase("the upgrade to roles", (database) => {
  let workspace: Workspace;
  beforeEach(async () => {
    workspace = await makeWorkspace(database);
  });
  afterEach(() => workspace.remove());

  const run = async (env: Record<string, string>, ...words: string[]) => {
    const { code, stdout, stderr } = await portico(workspace, [...words, "--json"], { env });
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const refusal = async (...words: string[]): Promise<string> => {
    const { code, stderr } = await portico(workspace, ["migrate", ...words], { env: live });
    assert.equal(code, 1);
    return stderr;
  };
  const rolesOf = async (env: Record<string, string>, tenant: string): Promise<object> => {
    const { users } = await run(env, "user", "list", "--tenant", tenant);
    return Object.fromEntries(users.map(({ email, role }: { email: string; role: string }) => [email, role]));
  };
  const makeUser = (env: Record<string, string>, tenant: string, name: string) =>
    run(
      env,
      ...["user", "create", "--name", name, "--email", `${name}@example.com`],
      ...["--password", "correct horse", "--tenant", tenant],
    );
  /** Two tenants with users, as the version before roles leaves them. */
  const prepare = async (env: Record<string, string>): Promise<[string, string, string]> => {
    await run(env, "migrate");
    const { tenant: one } = await run(env, "tenant", "create", "--name", "One");
    const { tenant: two } = await run(env, "tenant", "create", "--name", "Two");
    await makeUser(env, one.id, "ada");
    const { user: mary } = await makeUser(env, one.id, "mary");
    const { user: grace } = await makeUser(env, two.id, "grace");
    const named = ["key", "create", "--name", "Mary's", "--scopes", "posts:read,keys:read"];
    await run(env, ...named, "--tenant", one.id, "--user", mary.id);
    const reader = openReader(workspace.databaseUrl);
    for (const statement of [
      "drop index portico_users_tenant_no_role",
      "alter table users drop column role",
      "alter table users drop column active",
    ])
      await reader.write(statement);
    await reader.close();
    return [one.id, two.id, grace.id];
  };

  test("in live mode migrate refuses until it is told who is the owner of each tenant", async () => {
    const [one, two, grace] = await prepare(live);
    assert.match(await refusal(), /name the owner of each tenant.*One \(tenant_\w+\), Two \(tenant_\w+\)/);
    assert.match(await refusal("--owner", "mary@example.com"), /missing for Two/);
    assert.match(
      await refusal("--owner", "nobody@example.com", "--owner", "first"),
      /no tenant has this user/,
    );
    const dry = await run(live, "migrate", "--dry-run", "--owner", "first");
    assert.deepEqual(
      dry.owners.map(({ email }: { email: string }) => email),
      ["ada@example.com", "grace@example.com"],
    );
    assert.match(await refusal(), /name the owner/);
    const { owners, reducedKeys } = await run(
      live,
      "migrate",
      "--owner",
      "ada@example.com",
      "--owner",
      grace,
    );
    assert.equal(owners.length, 2);
    assert.deepEqual(
      reducedKeys.map(({ name, role, lostScopes }: Record<string, unknown>) => [name, role, lostScopes]),
      [["Mary's", "member", ["keys:read"]]],
    );
    assert.deepEqual(await rolesOf(live, one), { "ada@example.com": "owner", "mary@example.com": "member" });
    assert.deepEqual(await rolesOf(live, two), { "grace@example.com": "owner" });
    assert.deepEqual((await run(live, "migrate")).owners, []);
  });

  test("in live mode a named user becomes the owner, and first stands for the others", async () => {
    const [one, two] = await prepare(live);
    await run(live, "migrate", "--owner", "mary@example.com", "--owner", "first");
    assert.deepEqual(await rolesOf(live, one), { "ada@example.com": "member", "mary@example.com": "owner" });
    assert.deepEqual(await rolesOf(live, two), { "grace@example.com": "owner" });
  });

  test("in a sandbox migrate makes the first user of each tenant its owner, once", async () => {
    const [one, two] = await prepare({});
    assert.equal((await run({}, "migrate")).owners.length, 2);
    assert.deepEqual(await rolesOf({}, one), { "ada@example.com": "owner", "mary@example.com": "member" });
    assert.deepEqual(await rolesOf({}, two), { "grace@example.com": "owner" });
    const writer = openReader(workspace.databaseUrl);
    await writer.write("update users set role = 'member' where email = 'grace@example.com'");
    await writer.close();
    // The operator has decided so since.
    assert.deepEqual((await run({}, "migrate")).owners, []);
  });

  test("in a sandbox the first user of each tenant becomes its owner at start", async () => {
    const [one, two] = await prepare({});
    const server = await Portico.start(workspace);
    try {
      assert.deepEqual(await rolesOf({}, one), { "ada@example.com": "owner", "mary@example.com": "member" });
      assert.deepEqual(await rolesOf({}, two), { "grace@example.com": "owner" });
    } finally {
      await server.stop();
    }
  });
});

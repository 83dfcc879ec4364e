// The commands of `portico` with a running server: their output, and the one line with which they fail.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import packageJson from "../../../package.json" with { type: "json" };
import { serve } from "../../support/scenario.ts";
import { onEachDatabase, portico, porticoProcess, program } from "../../support/server.ts";

const unreachable = { databaseUrl: "file:/dev/null/portico.db" };

const { stdout: help } = await portico(unreachable, ["--help"]);
const commands = [...help.matchAll(/^ {2}([a-z-]+(?: [a-z-]+)?)/gm)].map(([, name]) => name!);

test("portico lists every command, and so do --help, -h and help", async () => {
  for (const words of [[], ["--help"], ["-h"], ["help"]]) {
    const { code, stdout, stderr } = await porticoProcess(unreachable, words);
    assert.deepEqual([code, stdout, stderr], [0, help, ""]);
  }
});

test("a reader of the output that ends early is no error", () => {
  const words = ["-o", "pipefail", "-c", '"$0" "$1" --version | true', process.execPath, program];
  const { status, stderr } = spawnSync("bash", words, { encoding: "utf8" });
  assert.deepEqual([status, stderr], [0, ""]);
});

test("--help and help of a command need no database and list its options", async () => {
  await Promise.all(
    commands.map(async (command) => {
      const { code, stdout, stderr } = await portico(unreachable, [...command.split(" "), "--help"]);
      assert.deepEqual([code, stderr], [0, ""], command);
      assert.match(stdout, new RegExp(`^portico ${command}`));
      for (const option of ["--json", "--help"]) assert.match(stdout, new RegExp(`^ {2}${option} `, "m"));
      assert.deepEqual(await portico(unreachable, ["help", ...command.split(" ")]), { code, stdout, stderr });
    }),
  );
});

test("the first word of several commands lists them", async () => {
  for (const words of [["key"], ["key", "--help"], ["help", "key"]]) {
    const { code, stdout, stderr } = await portico(unreachable, words);
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout, /^portico key COMMAND /);
    const listed = commands.filter((command) => new RegExp(`^ {2}${command} `, "m").test(stdout));
    assert.deepEqual(
      listed,
      commands.filter((command) => command.startsWith("key ")),
    );
  }
});

test("--version prints the version of the package", async () => {
  const { code, stdout } = await porticoProcess(unreachable, ["--version"]);
  assert.deepEqual([code, stdout], [0, `${packageJson.version}\n`]);
});

async function expectRefusal(
  workspace: { readonly databaseUrl: string },
  call: readonly string[],
  line: RegExp,
  command = portico,
): Promise<void> {
  const { code, stdout, stderr } = await command(workspace, call);
  assert.match(stderr, /^portico: [^\n]+\n$/, call.join(" "));
  assert.match(stderr, line);
  assert.deepEqual([code, stdout], [1, ""]);
}

test("an invalid call fails with one line and exit code 1", async () => {
  const calls: readonly (readonly [string, RegExp])[] = [
    ["dance", /unknown command 'dance'; see portico --help/],
    ["key dance", /unknown command 'key dance'/],
    ["help dance", /unknown command 'dance'; see portico --help/],
    ["--version-of-what", /unknown command/],
    ["key create --color red", /--color/],
    ["key create", /--name is required/],
    ["key create --name", /--name/],
    ["key create --name x", /--scopes is required/],
    ["key revoke", /ID is required/],
    ["mail show", /ID is required/],
    ["mail list --limit 0", /--limit is '0'/],
    ["key usage", /ID is required/],
    ["key list extra", /unexpected argument 'extra'/],
    ["tenant create", /--name is required/],
    ["user create --name x --email x@example.com", /--password is required/],
    ["key change x --name y", /^portico: 'key change' is now 'key update'\n$/],
    ["client remove x", /^portico: 'client remove' is now 'client delete'\n$/],
    ["migrate --dry-run=perhaps", /dry-run/],
    ["key list", /cannot be opened/],
  ];
  await Promise.all(calls.map(([call, line]) => expectRefusal(unreachable, call.split(" "), line)));
  for (const [call, line] of [calls[1]!, calls.at(-1)!])
    await expectRefusal(unreachable, call.split(" "), line, porticoProcess);
});

const words = (call: string): string[] => call.split(" ");

onEachDatabase("commands", (database) => {
  const server = serve(database);
  const refused = (call: readonly string[], line: RegExp) => expectRefusal(server.workspace, call, line);

  test("--json prints one line with one JSON object", async () => {
    const calls = [
      "migrate",
      "migrate --dry-run",
      "tenant create --name T",
      "user create --name U --email u@example.com --password 12345678",
      "key create --name K --scopes posts:read",
      "key list",
      "mail list",
      "log list",
    ];
    for (const call of calls) {
      // Some of them as processes, which must end too.
      const run = ["migrate", "key list"].includes(call) ? porticoProcess : portico;
      const { code, stdout, stderr } = await run(server.workspace, [...words(call), "--json"]);
      assert.deepEqual([code, stderr], [0, ""], call);
      assert.match(stdout, /^\{.*\}\n$/, call);
      assert.equal(typeof JSON.parse(stdout), "object");
    }
  });

  test("tenant create prints the tenant's id", async () => {
    const { tenant } = await server.command(...words("tenant create --name Acme"));
    assert.match(tenant.id, /^tenant_/);
    assert.equal(tenant.name, "Acme");
  });

  test("user create creates a user whom the server returns, in the first tenant or in another", async () => {
    const call = "user create --name Grace --email Grace@Example.com --password 12345678";
    const { user } = await server.command(...words(call));
    assert.deepEqual((await server.request(`/users/${user.id}`)).body, user);
    assert.equal(user.email, "grace@example.com");
    const { tenant } = await server.command(...words("tenant create --name Elsewhere"));
    const inOtherTenant = await server.command(...words(call), "--tenant", tenant.id);
    assert.equal((await server.request(`/users/${inOtherTenant.user.id}`)).status, 404);
  });

  test("key create prints the key once, and it works at once", async () => {
    const created = await server.command(...words("key create --name K --scopes posts:read,users:read"));
    assert.match(created.key, /^sk_test_[\w-]{43}$/);
    assert.equal(created.prefix, created.key.slice(0, 12));
    assert.deepEqual(created.scopes, ["posts:read", "users:read"]);
    assert.equal(typeof created.warning, "string");
    assert.equal((await server.request("/users", { key: created.key })).status, 200);
    const listed = JSON.stringify(await server.command("key", "list"));
    assert.ok(listed.includes(created.id) && !listed.includes(created.key));
    assert.doesNotMatch(listed, /hash/i);
  });

  test("the line of key create begins with the key alone, so that a script can read it", async () => {
    const { stdout } = await portico(server.workspace, words("key create --name K --scopes posts:read"));
    assert.match(stdout, /^sk_test_[\w-]{43}\n/);
  });

  test("key list prints the status of each key", async () => {
    const create = words("key create --name K --scopes posts:read");
    const soon = await server.command(
      ...create,
      "--expires-at",
      new Date(Date.now() + 86_400_000).toISOString(),
    );
    const revoked = await server.command(...create);
    const active = await server.command(...create);
    await server.command("key", "revoke", revoked.id);
    const { keys } = await server.command("key", "list");
    const statusOf = ({ id }: { id: string }) => keys.find((key: { id: string }) => key.id === id).status;
    assert.deepEqual([soon, revoked, active].map(statusOf), ["expiring_soon", "revoked", "active"]);
    assert.equal(keys[0].id, active.id);
  });

  test("key revoke may be repeated, and checks the tenant", async () => {
    const { id } = await server.command(...words("key create --name K --scopes posts:read"));
    const first = await server.command("key", "revoke", id);
    assert.equal(first.key.status, "revoked");
    const second = await server.command("key", "revoke", id);
    assert.equal(second.key.revokedAt, first.key.revokedAt);
    const { tenant } = await server.command(...words("tenant create --name Other"));
    await Promise.all([
      refused(["key", "revoke", id, "--tenant", tenant.id], /There is no api key/),
      refused(["key", "revoke", "nothing"], /There is no api key/),
    ]);
  });

  test("key revoke-all revokes nothing until it is told which of several tenants is meant", async () => {
    const { tenant } = await server.command(...words("tenant create --name Many"));
    const { id } = await server.command(...words("key create --name K --scopes posts:read"));
    await server.command(...words("key create --name K --scopes posts:read --tenant"), tenant.id);
    const statuses = async (...more: string[]): Promise<string[]> =>
      (await server.command("key", "list", ...more)).keys.map(({ status }: { status: string }) => status);

    await refused(words("key revoke-all"), /^portico: there are \d+ tenants; name one with --tenant/);
    assert.ok((await statuses("--tenant", tenant.id)).includes("active"));
    assert.equal((await server.request(`/api-keys/${id}`)).body.status, "active");

    await server.command("key", "revoke-all", "--tenant", tenant.id);
    assert.deepEqual(await statuses("--tenant", tenant.id), ["revoked"]);
    assert.equal((await server.request(`/api-keys/${id}`)).body.status, "active");
  });

  test("migrate has nothing to do while a server runs", async () => {
    const { statements } = await server.command("migrate");
    assert.deepEqual(statements, []);
    const { stdout } = await portico(server.workspace, ["migrate"]);
    assert.equal(stdout, "The database is up to date.\n");
  });
});

describe("the options of commands", () => {
  const server = serve("sqlite");
  const refused = (call: readonly string[], line: RegExp) => expectRefusal(server.workspace, call, line);

  test("user create refuses an invalid user", async () => {
    const user = (email: string, password: string, ...more: string[]) => [
      "user",
      "create",
      "--name",
      "X",
      "--email",
      email,
      "--password",
      password,
      ...more,
    ];
    await Promise.all([
      refused(user("nowhere", "12345678"), /email/),
      refused(user("ada@example.com", "12345678"), /email/),
      refused(user("x@example.com", "short"), /8 to 256/),
      refused(user("x@example.com", "12345678", "--tenant", "tenant_x"), /there is no tenant tenant_x/),
    ]);
  });

  test("a key lives for a year, or for the requested time, two years at most", async () => {
    const day = 24 * 60 * 60 * 1000;
    const daysLeft = ({ expiresAt }: { expiresAt: string }) =>
      Math.round((Date.parse(expiresAt) - Date.now()) / day);
    const create = words("key create --name K --scopes posts:read");
    // The next year may have one more day.
    assert.ok([365, 366].includes(daysLeft(await server.command(...create))));
    const inDays = (days: number) => new Date(Date.now() + days * day).toISOString();
    assert.equal(daysLeft(await server.command(...create, "--expires-at", inDays(3))), 3);
    const date = inDays(3).slice(0, 10);
    assert.equal((await server.command(...create, "--expires-at", date)).expiresAt, `${date}T00:00:00.000Z`);
    await Promise.all([
      refused([...create, "--expires-at", inDays(732)], /two years/),
      refused([...create, "--expires-at", inDays(-1)], /is in the past/),
      refused([...create, "--expires-at", "soon"], /`expiresAt` must be a valid date-time/),
      refused([...create, "--expires-at", "1"], /`expiresAt` must be a valid date-time/),
    ]);
  });

  test("an invalid option is reported in one line", async () => {
    await Promise.all([
      refused(
        words("mail list --limit -1"),
        /^portico: Option '--limit' argument is ambiguous; see portico mail list --help\n$/,
      ),
      refused(words("key rotate K --overlap x"), /it must be a whole number of at least 0/),
      refused(words("mail list --limit 0"), /it must be a whole number of at least 1/),
      refused(words("key revoke a b"), /unexpected argument 'b'/),
      refused(words("key revoke"), /ID is required/),
    ]);
    const { stdout } = await portico(server.workspace, ["key", "--help"]);
    assert.match(stdout, /key revoke-all/);
  });

  test("key create refuses an invalid key", async () => {
    await Promise.all([
      refused(
        words("key create --name K --scopes posts:fly"),
        /`scopes` contains unknown scopes: posts:fly \(known: \*, users:read/,
      ),
      refused(["key", "create", "--name", "K", "--scopes", ""], /--scopes is required/),
      refused(["key", "create", "--name", "K", "--scopes", ","], /scope/),
      refused(
        words("key create --name K --scopes posts:read --type golden"),
        /`type` must be one of secret, publishable/,
      ),
      refused(words("key create --name K --scopes posts:read --rate-limit 0"), /--rate-limit is '0'/),
      refused(words("key create --name K --scopes posts:read --tenant x"), /there is no tenant x/),
      refused(words("key create --name K --scopes posts:read --user x"), /no user x/),
      refused(["key", "create", "--name", "x".repeat(201), "--scopes", "posts:read"], /name/),
    ]);
  });
});

// Roles that an app declares, and what policies and hooks know of the caller.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { users } from "../../../src/auth/users/resource.ts";
import { app } from "../../../src/declare/app.ts";
import { belongsTo, text } from "../../../src/declare/field.ts";
import { resource } from "../../../src/declare/resource.ts";
import { OperatorError } from "../../../src/errors.ts";
import { createServer, type PorticoServer } from "../../../src/server.ts";
import { subscriptionStarted, withStream } from "../../support/graphql/subscriptions.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../../support/server.ts";

const notes = resource("note", {
  fields: {
    text: text({ max: 200 }),
    seen: text({ max: 200, readOnly: true, default: "" }),
    owner: belongsTo(() => users, { optional: true }),
  },
  hooks: {
    before: {
      create: (_, { caller: { kind, role, userId, scopes } }) => ({
        seen: [kind, role, userId === null ? "nobody" : "somebody", scopes.has("notes:write")].join(" "),
      }),
    },
  },
});

const tasks = resource("task", {
  fields: { text: text({ max: 200 }), owner: belongsTo(() => users, { default: "caller" }) },
  policy: ({ caller }) => caller.role === "owner" || { ownerId: caller.userId },
});

const roles = {
  owner: "*",
  admin: [
    "notes:read",
    "notes:write",
    "tasks:read",
    "tasks:write",
    "users:read",
    "users:write",
    "keys:read",
    "keys:manage",
  ],
  support: ["users:read", "users:write"],
  integrator: ["notes:read", "notes:write", "users:read", "users:write", "clients:read", "clients:manage"],
  guest: ["notes:read", "tasks:read", "tasks:write", "users:read"],
} as const;

describe("roles of an app", () => {
  const refused = async (declared: unknown): Promise<string> => {
    try {
      // Without a compiler, a project can declare anything.
      const described = app({ name: "Wrong", resources: [notes, tasks], roles: declared as typeof roles });
      // The declarations are refused before the database, which cannot be opened.
      const server = await createServer(described, { databaseUrl: "file:/dev/null/portico.db", port: 0 });
      await server.close();
    } catch (error) {
      assert.ok(error instanceof OperatorError, String(error));
      return error.message;
    }
    throw new Error(`accepted: ${JSON.stringify(declared)}`);
  };
  for (const [declared, message] of [
    [{}, /write roles as an object/],
    [[], /write roles as an object/],
    ["owner", /write roles as an object/],
    [null, /write roles as an object/],
    [{ owner: ["notes:read"] }, /the first role, owner, must be "\*"/],
    [{ member: ["notes:read"], owner: "*" }, /the first role, member, must be "\*"/],
    [{ "the boss": "*" }, /the role "the boss" has an invalid name/],
    [{ owner: "*", __typename: "*" }, /invalid name/],
    [{ owner: "*", member: "notes:read" }, /the role member must be "\*" or a list of scopes/],
    [{ owner: "*", member: [1] }, /the role member must be "\*" or a list of scopes/],
    [{ owner: "*", member: ["*"] }, /the role member lists "\*"; write member: "\*"/],
    [
      { owner: "*", member: ["notes:read", "note:write"] },
      /member names unknown scopes: note:write \(known: /,
    ],
  ] as const)
    test(`${JSON.stringify(declared)} stops the start`, async () => {
      assert.match(await refused(declared), message);
    });
});

onEachDatabase("declared roles", (database) => {
  let workspace: Workspace;
  let server: PorticoServer;
  before(async () => {
    workspace = await makeWorkspace(database);
    const described = app({ name: "Roles", resources: [notes, tasks], roles });
    server = await createServer(described, {
      databaseUrl: workspace.databaseUrl,
      port: 0,
      log: { write: () => {} },
    });
    await server.listen();
  });
  after(async () => {
    await server.close();
    await workspace.remove();
  });
  const request = async (method: string, path: string, body?: object, key = server.sandboxKey) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    const response = await fetch(server.url + path, init);
    const answer = await response.text();
    return { status: response.status, body: answer === "" ? undefined : JSON.parse(answer) };
  };
  let count = 0;
  const makeUser = async (role?: string) => {
    count += 1;
    const body = { name: "U", email: `u${count}@example.com`, ...(role && { role }) };
    const created = await request("POST", "/users", body);
    assert.equal(created.status, 201, JSON.stringify(created.body));
    return created.body;
  };
  const keyOf = async (user: { id: string }, scopes: readonly string[] = ["*"]): Promise<string> =>
    (await request("POST", "/v1/api-keys", { name: "K", scopes, ownerId: user.id })).body.key;

  test("users are created with the last role", async () => {
    assert.equal((await makeUser()).role, "guest");
  });

  test("hooks know the kind, the role, the user and the scopes of the caller", async () => {
    const admin = await keyOf(await makeUser("admin"));
    assert.equal(
      (await request("POST", "/notes", { text: "A" }, admin)).body.seen,
      "key admin somebody true",
    );
    const guest = await keyOf(await makeUser());
    assert.equal((await request("POST", "/notes", { text: "B" }, guest)).status, 403);
    const own = await request("POST", "/notes", { text: "C" });
    assert.equal(own.body.seen, "key owner somebody true");
  });

  test("a policy that depends on the role applies the current one, and ends subscriptions under the old one", async () => {
    const guest = await makeUser();
    const key = await keyOf(guest);
    await request("POST", "/tasks", { text: "Theirs" });
    await request("POST", "/tasks", { text: "Own" }, key);
    const texts = async (): Promise<readonly string[]> =>
      (await request("GET", "/tasks?sort=createdAt", undefined, key)).body.data.map(
        (task: { text: string }) => task.text,
      );
    assert.deepEqual(await texts(), ["Own"]);
    const query = "subscription { taskCreated { text } }";
    await withStream({ url: server.url, key }, query, {}, async (stream) => {
      await subscriptionStarted();
      await request("POST", "/tasks", { text: "Hidden" });
      await request("POST", "/tasks", { text: "Seen" }, key);
      await stream.results(1);
      assert.equal((await request("PATCH", `/users/${guest.id}`, { role: "owner" })).status, 200);
      assert.deepEqual(await texts(), ["Theirs", "Own", "Hidden", "Seen"]);
      const results = await stream.results(2);
      const seen = results.map(({ data, errors }) => data?.taskCreated.text ?? errors[0].extensions.code);
      // The client subscribes again, and then sees what the new role lets it see.
      assert.deepEqual(seen, ["Seen", "forbidden"]);
      await stream.ended();
    });
    assert.equal((await request("PATCH", `/users/${guest.id}`, { role: "guest" })).status, 200);
    assert.deepEqual(await texts(), ["Own", "Seen"]);
  });

  test("nobody manages users of a role that has more than their own", async () => {
    const [admin, support, guest] = [await makeUser("admin"), await makeUser("support"), await makeUser()];
    const [ofAdmin, ofSupport] = [await keyOf(admin), await keyOf(support)];
    const patch = (id: string, body: object, key: string) => request("PATCH", `/users/${id}`, body, key);
    // A guest may read notes, and support may not.
    for (const user of [admin, guest])
      for (const change of [{ email: "taken@example.com" }, { active: false }, { role: "support" }])
        assert.equal((await patch(user.id, change, ofSupport)).status, 403, JSON.stringify(change));
    const added = { name: "Added", email: "added@example.com" };
    assert.equal((await request("POST", "/users", added, ofSupport)).status, 403);
    assert.equal((await patch(support.id, { role: "admin" }, ofSupport)).status, 403);
    assert.equal((await patch(support.id, { role: "owner" }, ofAdmin)).status, 403);
    assert.equal((await patch(guest.id, { role: "admin" }, ofAdmin)).status, 200);
    assert.equal((await patch(guest.id, { role: "guest" }, ofAdmin)).status, 200);
    assert.equal((await patch(guest.id, { email: "changed@example.com" }, ofAdmin)).status, 200);
    assert.equal((await request("DELETE", `/users/${support.id}`, undefined, ofAdmin)).status, 204);
    const [owner] = (await request("GET", "/users?sort=createdAt")).body.data;
    for (const change of [{ email: "x@example.com" }, { active: false }, { role: "guest" }])
      assert.equal((await patch(owner.id, change, ofAdmin)).status, 403, JSON.stringify(change));
    assert.equal((await request("DELETE", `/users/${owner.id}`, undefined, ofAdmin)).status, 403);
  });

  test("a key mints no scope that the role of its owner lacks, and no key for a higher role", async () => {
    const admin = await keyOf(await makeUser("admin"));
    const mint = (body: object) => request("POST", "/v1/api-keys", { name: "M", ...body }, admin);
    assert.equal((await mint({ scopes: ["notes:read", "users:write"] })).status, 201);
    for (const scope of ["clients:read", "clients:manage", "*"])
      assert.equal((await mint({ scopes: [scope] })).status, 403, scope);
    const [owner] = (await request("GET", "/users?sort=createdAt")).body.data;
    assert.equal((await mint({ scopes: ["notes:read"], ownerId: owner.id })).status, 403);
    const guest = await makeUser();
    assert.equal((await mint({ scopes: ["notes:read"], ownerId: guest.id })).status, 201);
  });

  test("a client that acts for itself gets no administrative scopes from those who lack a scope", async () => {
    const key = await keyOf(await makeUser("integrator"));
    const make = (presented: string | undefined, scopes: readonly string[], ...grantTypes: string[]) => {
      const redirectUris = ["https://app.example.com/callback"];
      const body = { name: "M", type: "confidential", scopes, redirectUris, grantTypes };
      return request("POST", "/v1/oauth-clients", body, presented);
    };
    const change = (id: string, body: object) => request("PATCH", `/v1/oauth-clients/${id}`, body, key);
    const rotate = (id: string) => request("POST", `/v1/oauth-clients/${id}/rotations`, {}, key);
    const machine = "client_credentials";
    const administrative = ["notes:read", "users:write"];
    const refused = await make(key, administrative, machine);
    assert.deepEqual([refused.status, refused.body.error.code], [403, "forbidden"]);
    assert.match(refused.body.error.message, /role integrator does not include every scope/);
    // A client that acts for users is cut by their roles.
    const ofUsers = await make(key, administrative, "authorization_code");
    assert.equal(ofUsers.status, 201, JSON.stringify(ofUsers.body));
    assert.equal((await change(ofUsers.body.id, { grantTypes: [machine] })).status, 403);
    const harmless = await make(key, ["notes:read"], machine);
    assert.equal(harmless.status, 201);
    assert.equal((await change(harmless.body.id, { scopes: administrative })).status, 403);
    const ofOwner = await make(undefined, administrative, machine);
    assert.equal(ofOwner.status, 201);
    assert.equal((await rotate(ofOwner.body.id)).status, 403);
    assert.equal((await change(ofOwner.body.id, { name: "Mine" })).status, 403);
    assert.equal((await rotate(harmless.body.id)).status, 201);
  });
});

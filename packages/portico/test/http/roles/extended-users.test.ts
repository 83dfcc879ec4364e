// Users with fields that the app adds.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { users } from "../../../src/auth/users/resource.ts";
import { app } from "../../../src/declare/app.ts";
import { belongsTo, text } from "../../../src/declare/field.ts";
import { resource } from "../../../src/declare/resource.ts";
import { OperatorError } from "../../../src/errors.ts";
import { createServer } from "../../../src/server.ts";
import { requestGraphql } from "../../support/graphql/request.ts";
import { expectAnswer, runCommand } from "../../support/scenario.ts";
import { type Answer, makeWorkspace, onEachDatabase, Portico, type Workspace } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/directory");

onEachDatabase("users with fields of the app", (database) => {
  let workspace: Workspace;
  let server: Portico;
  let teamId: string;
  let grace: { readonly id: string };
  let key: string;

  before(async () => {
    workspace = await makeWorkspace(database);
    // A database of a version without the fields.
    const notes = resource("note", { fields: { line: text() } });
    const older = await Portico.startApp(workspace, app({ name: "Directory", resources: [notes] }));
    const first = older.key;
    await older.stop();
    server = await Portico.start(workspace, { cwd, key: first });
    teamId = (await server.request("/teams", { body: { name: "Engines" } })).body.id;
    const body = { name: "Grace", email: "grace@example.com", phone: "555", plan: "paid", teamId };
    const created = await server.request("/users", { body });
    expectAnswer(created, { status: 201, body: { phone: "555", plan: "paid", teamId, role: "member" } });
    assert.equal("note" in created.body, false);
    grace = created.body;
    const made = { name: "Hers", ownerId: grace.id, scopes: ["users:read", "badges:read", "badges:write"] };
    key = (await server.request("/v1/api-keys", { body: made })).body.key;
  });
  after(async () => {
    await server.stop();
    await workspace.remove();
  });

  const emails = async (query: string): Promise<readonly string[]> => {
    const { status, body, text } = await server.request(`/users?${query}`);
    assert.equal(status, 200, text);
    return body.data.map(({ email }: { email: string }) => email);
  };

  test("users of before have the defaults", async () => {
    const { user } = (await server.request("/v1/me")).body;
    assert.deepEqual(
      [user.email, user.phone, user.plan, user.teamId, Object.keys(user).join()],
      ["ada@example.com", null, "free", null, "id,name,email,role,phone,plan,teamId"],
    );
  });

  test("lists filter, sort and search by them, in REST and GraphQL", async () => {
    for (const query of ["plan=paid", `teamId=${teamId}`, "q=555", "plan[ne]=free"])
      assert.deepEqual(await emails(query), ["grace@example.com"], query);
    assert.deepEqual(await emails("sort=plan"), ["ada@example.com", "grace@example.com"]);
    const query = `{ usersConnection(filter: { plan: paid }, sort: PLAN_DESC) { edges { node { phone plan team { name } } } } }`;
    const { body, text } = await requestGraphql(server, query);
    assert.deepEqual(
      body.data?.usersConnection.edges,
      [{ node: { phone: "555", plan: "paid", team: { name: "Engines" } } }],
      text,
    );
    expectAnswer(await server.request("/users?phone=555"), {
      status: 422,
      details: [{ field: "phone", issue: "unknown" }],
    });
  });

  test("those who manage users change them, and values are checked", async () => {
    const change = (body: object): Promise<Answer> =>
      server.request(`/users/${grace.id}`, { method: "PATCH", body });
    expectAnswer(await change({ plan: "free" }), { status: 200, body: { plan: "free" } });
    expectAnswer(await change({ plan: "paid" }), { status: 200 });
    expectAnswer(await change({ plan: "gold" }), {
      status: 422,
      details: [{ field: "plan", issue: "choice" }],
    });
    expectAnswer(await change({ note: "x" }), {
      status: 422,
      details: [{ field: "note", issue: "unknown" }],
    });
    expectAnswer(await change({ teamId: "team_none" }), {
      status: 422,
      details: [{ field: "teamId", issue: "reference" }],
    });
  });

  test("people change the declared ones of themselves, whatever their role", async () => {
    const change = (body: object): Promise<Answer> =>
      server.request("/v1/me", { method: "PATCH", key, body });
    expectAnswer(await change({ phone: "556", teamId: null, name: "Grace H." }), {
      status: 200,
      body: { user: { phone: "556", teamId: null, plan: "paid", name: "Grace H." } },
    });
    expectAnswer(await change({ phone: "555", teamId }), { status: 200 });
    for (const body of [{ plan: "free" }, { role: "owner" }, { active: true }])
      expectAnswer(await change(body), {
        status: 422,
        details: [{ field: Object.keys(body)[0]!, issue: "read_only" }],
        message: /^You can change your name, email, phone and teamId only\.$/,
      });
    expectAnswer(await change({ phone: "x".repeat(31) }), {
      status: 422,
      details: [{ field: "phone", issue: "max" }],
    });
    expectAnswer(await change({ note: "mine" }), {
      status: 422,
      details: [{ field: "note", issue: "unknown" }],
    });
    expectAnswer(await server.request(`/users/${grace.id}`, { method: "PATCH", key, body: { phone: "1" } }), {
      status: 403,
    });
    const { body } = await requestGraphql(server, "{ me { user { email phone plan teamId } } }", { key });
    const user = { email: "grace@example.com", phone: "555", plan: "paid", teamId };
    assert.deepEqual(body.data.me.user, user);
  });

  test("references to users lead to them, and filters look at them", async () => {
    expectAnswer(await server.request("/badges", { key, body: { title: "First" } }), {
      status: 201,
      body: { holderId: grace.id },
    });
    const { data } = (await server.request("/badges?holder.plan=paid", { key })).body;
    assert.equal(data.length, 1);
    const { body } = await requestGraphql(server, "{ badges { holder { plan phone } } }", { key });
    assert.deepEqual(body.data.badges, [{ holder: { plan: "paid", phone: "555" } }]);
  });

  test("commands create and list them", async () => {
    const named = [
      "user",
      "create",
      "--name",
      "Charles",
      "--email",
      "charles@example.com",
      "--password",
      "correct horse",
    ];
    const { user } = await runCommand(workspace, [...named, "--fields", '{"plan":"paid","phone":"557"}'], {
      cwd,
    });
    assert.deepEqual([user.plan, user.phone, user.teamId], ["paid", "557", null]);
    const listed = await runCommand(workspace, ["user", "list"], { cwd });
    assert.equal(listed.users.find(({ id }: { id: string }) => id === user.id).phone, "557");
    await runCommand(workspace, ["user", "delete", user.id], { cwd });
  });
});

describe("wrong fields of users", () => {
  const refusal = async (declare: () => ReturnType<typeof app>): Promise<string> => {
    try {
      // The declarations are refused before the database, which cannot be opened.
      await (await createServer(declare(), { databaseUrl: "file:/dev/null/portico.db", port: 0 })).close();
    } catch (error) {
      assert.ok(error instanceof OperatorError, String(error));
      return error.message;
    }
    throw new Error("the declarations were accepted");
  };
  const phone = text({ max: 30, optional: true });
  const named = resource("badge", { fields: { title: text() } });
  // Without a compiler, a project can declare anything.
  const extend = users.extend as unknown as (extension: object) => ReturnType<typeof users.extend>;
  const ofUsers = (extension: object) => () => app({ name: "Wrong", resources: [extend(extension), named] });

  const wrong: readonly (readonly [fact: string, declare: () => ReturnType<typeof app>, line: RegExp])[] = [
    [
      "a field that users have",
      ofUsers({ fields: { role: phone } }),
      /^users\.extend, field role: users have this field; rename it$/,
    ],
    [
      "a required field",
      ofUsers({ fields: { phone: text({ max: 30 }) } }),
      /^users\.extend, field phone: people sign up and commands create users without it; make it optional, or give it a default$/,
    ],
    [
      "an unknown option",
      ofUsers({ fields: { phone }, policy: () => true }),
      /^users\.extend: unknown option policy; use some of fields, /,
    ],
    ["no fields", ofUsers({}), /^users\.extend: fields is missing/],
    [
      "a field that is not there",
      ofUsers({ fields: { phone }, selfEditable: ["fax"] }),
      /selfEditable names fax, which is none of its fields; use some of phone$/,
    ],
    [
      "a read-only field that people change",
      ofUsers({
        fields: { phone: text({ max: 30, optional: true, readOnly: true }) },
        selfEditable: ["phone"],
      }),
      /^users\.extend, field phone: nobody can change it; remove it from selfEditable$/,
    ],
    [
      "an invalid option of a field",
      ofUsers({ fields: { phone: text({ max: -1, optional: true }) } }),
      /^resource user, field phone: min and max count characters: whole numbers from 0$/,
    ],
    [
      "two extensions",
      () =>
        app({
          name: "Wrong",
          resources: [extend({ fields: { phone } }), extend({ fields: { fax: phone } })],
        }),
      /^app: lists users\.extend\(\.\.\.\) twice; extend users once$/,
    ],
    [
      "an extension that is not listed",
      () => {
        const people = users.extend({ fields: { phone } });
        const badges = resource("badge", { fields: { holder: belongsTo(() => people) } });
        return app({ name: "Wrong", resources: [badges] });
      },
      /^resource badge, field holder: refers to extended users, which the app does not list; add them to resources$/,
    ],
  ];
  for (const [fact, declare, line] of wrong)
    test(`${fact} is refused`, async () => assert.match(await refusal(declare), line));
});

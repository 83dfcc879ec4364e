// Users whose role the declaration no longer has.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { app } from "../../../src/declare/app.ts";
import { text } from "../../../src/declare/field.ts";
import { resource } from "../../../src/declare/resource.ts";
import type { RoleDeclarations } from "../../../src/declare/roles.ts";
import { requestGraphql } from "../../support/graphql/request.ts";
import { expectAnswer } from "../../support/scenario.ts";
import { makeWorkspace, onEachDatabase, Portico, type Workspace } from "../../support/server.ts";

const notes = resource("note", { fields: { text: text({ max: 200 }) } });
const admin = ["notes:read", "users:read", "users:write", "keys:read", "keys:manage"];
const member = ["notes:read", "users:read"];
const everything: RoleDeclarations = { owner: "*", boss: "*", admin, member };

onEachDatabase("a role that is removed from the declaration", (database) => {
  let workspace: Workspace;
  let server: Portico;
  let owner = "";
  const serve = async (roles: RoleDeclarations): Promise<void> => {
    await server?.stop();
    server = await Portico.startApp(workspace, app({ name: "Removed", resources: [notes], roles }));
    owner ||= server.key;
  };
  before(async () => {
    workspace = await makeWorkspace(database);
  });
  after(async () => {
    await server.stop();
    await workspace.remove();
  });
  const make = async (path: string, body: object) => {
    const created = await server.request(path, { key: owner, body });
    assert.equal(created.status, 201, created.text);
    return created.body;
  };
  const userWith = (role: string) => make("/users", { name: role, email: `${role}@example.com`, role });
  const keyOf = async ({ id }: { id: string }): Promise<string> =>
    (await make("/v1/api-keys", { name: "K", scopes: ["*"], ownerId: id })).key;

  test("gives no rights, and its users are managed only by those with every scope", async () => {
    await serve(everything);
    const [boss, administrator] = [await userWith("boss"), await userWith("admin")];
    const [ofBoss, ofAdmin] = [await keyOf(boss), await keyOf(administrator)];
    expectAnswer(await server.request("/users", { key: ofBoss }), { status: 200 });

    await serve({ owner: "*", admin, member });
    const missing = { status: 403, code: "insufficient_scope", message: /role `boss`/ } as const;
    expectAnswer(await server.request("/notes", { key: ofBoss }), missing);
    expectAnswer(await server.request("/notes", { key: ofBoss, body: { text: "x" } }), missing);
    expectAnswer(await server.request("/v1/api-keys", { key: ofBoss }), missing);
    const path = `/users/${boss.id}`;
    const promotion = { method: "PATCH", key: ofBoss, body: { role: "owner" } };
    expectAnswer(await server.request(path, promotion), missing);
    const { body } = await requestGraphql(server, "{ notes { id } }", { key: ofBoss });
    assert.equal(body.errors[0].extensions.code, "insufficient_scope");
    expectAnswer(await server.request("/v1/me", { key: ofBoss }), {
      status: 200,
      body: { scopes: [], user: { role: "boss" } },
    });

    const forbidden = { status: 403, code: "forbidden" } as const;
    for (const change of [{ email: "taken@example.com" }, { active: false }, { role: "member" }])
      expectAnswer(await server.request(path, { method: "PATCH", key: ofAdmin, body: change }), forbidden);
    expectAnswer(await server.request(path, { method: "DELETE", key: ofAdmin }), forbidden);
    const minted = { name: "M", scopes: ["users:write"], ownerId: boss.id };
    expectAnswer(await server.request("/v1/api-keys", { key: ofAdmin, body: minted }), forbidden);
    const input = `input: { name: "M", scopes: ["users:write"], ownerId: "${boss.id}" }`;
    const mutation = `mutation { createApiKey(${input}) { __typename } }`;
    const minting = await requestGraphql(server, mutation, { key: ofAdmin });
    assert.equal(minting.body.errors[0].extensions.code, "forbidden", minting.text);
    // Its users are still read, and changed by an owner.
    expectAnswer(await server.request(path, { key: ofAdmin }), { status: 200, body: { role: "boss" } });
    const named = { method: "PATCH", key: owner, body: { name: "Named" } };
    expectAnswer(await server.request(path, named), { status: 200, body: { role: "boss" } });

    await serve(everything);
    expectAnswer(await server.request("/notes", { key: ofBoss }), { status: 200 });
    expectAnswer(await server.request(path, { ...promotion, body: { role: "member" } }), { status: 200 });
  });
});

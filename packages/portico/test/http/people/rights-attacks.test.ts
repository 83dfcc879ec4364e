// Attempts to get more rights than one's own, or to take over the accounts of those who have them, over every protocol.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { makeKey } from "../../support/keys.ts";
import {
  basic,
  makeClient,
  makePublicClient,
  makeUser,
  obtainTokens,
  post,
  type User,
} from "../../support/oauth.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";
import { describe, isRefused, type RowRequest, send } from "../policies/row-requests.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/people");

onEachDatabase("attempts to get more rights", (database) => {
  /** People by their role. */
  const people: Record<"owner" | "admin" | "support" | "other" | "member", User> = {} as typeof people;
  const credentials: Record<string, string> = {};
  const server = serve(database, {
    cwd,
    prepare: async (started) => {
      const application = await makePublicClient(
        started,
        "openid,profile,users:read,users:write,projects:read,projects:write",
      );
      for (const [name, role] of [
        ["owner", "owner"],
        ["admin", "admin"],
        ["support", "support"],
        ["other", "support"],
        ["member", "member"],
      ] as const) {
        const user = await makeUser(started, `${name}@example.com`);
        await started.request(`/users/${user.id}`, { method: "PATCH", body: { role } });
        people[name] = user;
        if (name !== "support" && name !== "member") continue;
        credentials[`${name}'s key`] = (await makeKey(started, { ownerId: user.id, scopes: ["*"] })).key;
        const scope = "openid profile users:read users:write projects:read projects:write";
        credentials[`${name}'s token`] = (await obtainTokens(started, application, user, scope)).access_token;
      }
      const machine = await makeClient(
        started,
        "--type",
        "confidential",
        "--scopes",
        "users:read,users:write",
      );
      const granted = await post(started, "/token", { grant_type: "client_credentials" }, basic(machine));
      credentials["an application"] = granted.body.access_token;
    },
  });
  const everything = async (): Promise<string> => {
    const [users, invitations] = [
      await server.request("/users?sort=email&perPage=100"),
      await server.request("/v1/invitations"),
    ];
    return users.text + invitations.text;
  };
  const graphql = (fields: string): RowRequest => ({
    path: "/graphql",
    body: { query: `mutation { ${fields} }` },
  });
  const literal = (values: object): string =>
    Object.entries(values)
      .map(([name, value]) => `${name}: ${name === "role" ? value : JSON.stringify(value)}`)
      .join();
  const line = (path: string, row: object): RowRequest => ({
    ...{ path: `/v1/imports/${path}`, body: JSON.stringify(row) },
    headers: { "content-type": "application/x-ndjson" },
  });

  /** Every way to change a user. */
  const changesOf = ({ id, email }: User, changes: object): readonly RowRequest[] => {
    const update = `updateUser(id: "${id}", input: { ${literal(changes)} }) { id }`;
    return [
      { path: `/users/${id}`, method: "PATCH", body: changes },
      { path: `/v1/users/${id}`, method: "PUT", body: { name: "Grace Hopper", email, ...changes } },
      graphql(update),
      graphql(`a: updateUser(id: "${id}", input: {}) { id } b: ${update}`),
      line("users?mode=upsert&by=email", { name: "Grace Hopper", email, ...changes }),
    ];
  };
  const creationsOf = (role: string): readonly RowRequest[] => {
    const values = { name: "New", email: `new-${role}@example.com`, role };
    const { name: _, ...invitation } = values;
    return [
      { path: "/users", body: values },
      graphql(`createUser(input: { ${literal(values)} }) { id }`),
      line("users", values),
      { path: "/v1/invitations", body: invitation },
      graphql(`createInvitation(input: { ${literal(invitation)} }) { id }`),
    ];
  };

  test("nobody gives a role above their own, or changes or deletes somebody with one", async () => {
    const { owner, admin, support, other } = people;
    const attempts = [
      ...[owner, admin].flatMap((user) => [
        ...changesOf(user, { email: "taken@example.com" }),
        ...changesOf(user, { name: "Taken" }),
        ...changesOf(user, { active: false }),
        ...changesOf(user, { role: "support" }),
        { path: `/users/${user.id}`, method: "DELETE" },
        graphql(`deleteUser(id: "${user.id}") { id }`),
      ]),
      ...["owner", "admin"].flatMap((role) => [
        ...changesOf(support, { role }),
        ...changesOf(other, { role }),
        ...creationsOf(role),
      ]),
    ];
    const before = await everything();
    for (const [name, key] of Object.entries(credentials))
      for (const attempt of attempts) {
        const answer = await send(server, attempt, key);
        assert.ok(isRefused(answer) && answer.status < 500, `${name}: ${describe(attempt)}: ${answer.text}`);
      }
    assert.equal(await everything(), before);
  });

  test("people without users:write change nobody, and of themselves only what is their own", async () => {
    const { member, other } = people;
    const before = await everything();
    for (const key of [credentials["member's key"]!, credentials["member's token"]!]) {
      const attempts = [
        ...changesOf(other, { name: "Taken" }),
        ...changesOf(member, { name: "Mine" }),
        ...changesOf(member, { role: "owner" }),
        ...changesOf(member, { active: false }),
        ...creationsOf("member"),
        ...[{ role: "owner" }, { active: false }, { id: other.id }, { tenantId: "tenant_x" }].map((body) => ({
          ...{ path: "/v1/me", method: "PATCH", body },
        })),
        { path: `/users/${member.id}`, method: "DELETE" },
        graphql(`deleteUser(id: "${other.id}") { id }`),
        { path: "/v1/invitations" },
      ];
      for (const attempt of attempts) {
        const answer = await send(server, attempt, key);
        assert.ok(isRefused(answer) && answer.status < 500, `${describe(attempt)}: ${answer.text}`);
      }
    }
    assert.equal(await everything(), before);
  });
});

// What the event log shows after the declarations, the role or the credential of its reader have changed: over REST and
// GraphQL alike.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { LoggedEvent } from "../../../client/index.ts";
import { users } from "../../../src/auth/users/resource.ts";
import { app } from "../../../src/declare/app.ts";
import { belongsTo, text } from "../../../src/declare/field.ts";
import { resource } from "../../../src/declare/resource.ts";
import { dataOf, expectError, requestGraphql } from "../../support/graphql/request.ts";
import { makeKey } from "../../support/keys.ts";
import { invite } from "../../support/people.ts";
import { expectAnswer, makeTenant, TestServer } from "../../support/scenario.ts";
import { makeWorkspace, onEachDatabase, Portico } from "../../support/server.ts";

const owner = belongsTo(() => users, { default: "caller" });
const oldBoards = resource("board", {
  fields: { name: text({ max: 50 }), note: text({ max: 50 }), owner },
  policy: ({ caller }) => caller.role === "owner" || { ownerId: caller.userId },
});
const oldLists = resource("list", { fields: { name: text({ max: 50 }) } });
const boards = resource("plan", {
  was: "board",
  fields: {
    title: text({ max: 50, was: "name" }),
    note: text({ max: 50, internal: true, default: "" }),
    owner,
  },
  policy: ({ caller }) => caller.role === "owner" || { ownerId: caller.userId, title: { not: "Secret" } },
});
const lists = resource("list", { exposed: false, fields: { name: text({ max: 50 }) } });
const reader = ["events:read", "users:read"];
const oldApp = app({
  name: "Old",
  resources: [oldBoards, oldLists],
  roles: {
    owner: "*",
    member: [...reader, "boards:read", "boards:write", "lists:read", "lists:write"],
    guest: [],
  },
});
const newApp = app({
  name: "New",
  resources: [boards, lists],
  roles: { owner: "*", member: [...reader, "boards:read"], guest: reader },
});

onEachDatabase("access to the event log", (database) => {
  const server = new TestServer();
  let ann = { id: "", key: "" };
  let theirs = "";
  before(async () => {
    server.workspace = await makeWorkspace(database);
    server.portico = await Portico.startApp(server.workspace, oldApp);
    const person = { name: "Ann", email: "ann@example.com", role: "member" };
    const { id } = await server.create("/users", person);
    ann = { id, key: (await makeKey(server, { scopes: ["*"], ownerId: id })).key };
    theirs = (await makeTenant(server.workspace, "*")).key;
    for (const name of ["Open", "Secret", "Gone"])
      await server.create("/boards", { name, note: "hidden later" }, { key: ann.key });
    await server.create("/boards", { name: "Of the owner", note: "" });
    await server.create("/lists", { name: "List" }, { key: ann.key });
    const [gone] = (await server.request("/boards", { key: ann.key })).body.data;
    expectAnswer(await server.request(`/boards/${gone.id}`, { method: "DELETE" }), { status: 204 });
    await invite(server, { email: "new@example.com" });
  });
  after(async () => {
    await server.portico?.stop();
    await server.workspace?.remove();
  });

  /** The events that a caller sees, oldest first, which are the same over both protocols. */
  const seenBy = async (key: string): Promise<readonly LoggedEvent[]> => {
    const listed = await server.request("/v1/events?limit=100&sort=createdAt", { key });
    expectAnswer(listed, { status: 200 });
    const members = "id type resource resourceId data createdAt";
    const query = `{ eventsConnection(first: 100, sort: CREATED_AT_ASC) { edges { node { ${members} } } } }`;
    const { edges } = (await dataOf(server, query, { key })).eventsConnection;
    assert.deepEqual(
      edges.map(({ node }: { node: LoggedEvent }) => node),
      listed.body.data,
    );
    return listed.body.data;
  };
  const summary = (events: readonly LoggedEvent[], ...resources: readonly string[]) =>
    events
      .filter((event) => resources.includes(event.resource))
      .map(({ type, data }) => [type, data.name ?? data.title]);
  /** No caller of this key reads an event by its id, over both protocols. */
  const assertHidden = async ({ id }: LoggedEvent, key: string): Promise<void> => {
    expectAnswer(await server.request(`/v1/events/${id}`, { key }), { status: 404, code: "not_found" });
    assert.deepEqual(await dataOf(server, `{ event(id: "${id}") { id } }`, { key }), { event: null });
  };

  test("a member sees its own rows and, with the scope, users, but no invitations and no other tenant", async () => {
    const own = await seenBy(ann.key);
    assert.deepEqual(summary(own, "board", "list", "invitation"), [
      ["board.created", "Open"],
      ["board.created", "Secret"],
      ["board.created", "Gone"],
      ["list.created", "List"],
      ["board.deleted", "Gone"],
    ]);
    const [user] = own.filter(({ type }) => type === "user.created");
    const shown = (await server.request(`/users/${user!.resourceId}`, { key: ann.key })).body;
    assert.deepEqual(Object.keys(user!.data), Object.keys(shown));
    const all = await seenBy(server.portico.key);
    const [invitation] = all.filter(({ resource: name }) => name === "invitation");
    const [{ id, email, status }] = (await server.request("/v1/invitations")).body.data;
    assert.partialDeepStrictEqual(invitation!.data, { id, email, status });
    await assertHidden(invitation!, ann.key);
    assert.equal(JSON.stringify(all).includes("password"), false);
    const foreign = await seenBy(theirs);
    assert.ok(foreign.length > 0);
    const ids = new Set(all.map((event) => event.id));
    assert.equal(
      foreign.some((event) => ids.has(event.id)),
      false,
    );
    await assertHidden(all[0]!, theirs);
    const after = await server.request(`/v1/events?after=${all[0]!.id}`, { key: theirs });
    expectAnswer(after, { status: 422, details: [{ field: "after", issue: "reference" }] });
  });

  test("a demotion and a revoked scope count at the next request", async () => {
    const role = (each: string) =>
      server.request(`/users/${ann.id}`, { method: "PATCH", body: { role: each } });
    expectAnswer(await role("guest"), { status: 200 });
    const refused = { status: 403, code: "insufficient_scope" } as const;
    expectAnswer(await server.request("/v1/events", { key: ann.key }), refused);
    const byGraphql = await requestGraphql(server, "{ eventsConnection { __typename } }", { key: ann.key });
    expectError(byGraphql, { code: "insufficient_scope" });
    expectAnswer(await role("member"), { status: 200 });
    assert.ok((await seenBy(ann.key)).length > 0);
  });

  test("another version shows its own names, fields, resources and policies", async () => {
    const before = await seenBy(server.portico.key);
    const { key } = server.portico;
    await server.portico.stop();
    server.portico = await Portico.startApp(server.workspace, newApp, { key });
    const all = await seenBy(key);
    assert.deepEqual(summary(all, "plan", "board", "list"), [
      ["plan.created", "Open"],
      ["plan.created", "Secret"],
      ["plan.created", "Gone"],
      ["plan.created", "Of the owner"],
      ["plan.deleted", "Gone"],
    ]);
    // The same events, with the same ids, but those of the resource that is no longer served.
    const served = before.filter((event) => event.resource !== "list");
    assert.deepEqual(
      all.slice(0, served.length).map(({ id, resourceId, createdAt }) => [id, resourceId, createdAt]),
      served.map(({ id, resourceId, createdAt }) => [id, resourceId, createdAt]),
    );
    const [created] = all.filter(({ type }) => type === "plan.created");
    assert.deepEqual(Object.keys(created!.data), ["id", "title", "ownerId", "createdAt", "updatedAt"]);
    for (const event of before.filter(({ resource: name }) => name === "list"))
      await assertHidden(event, key);
    const own = await seenBy(ann.key);
    assert.deepEqual(summary(own, "plan"), [
      ["plan.created", "Open"],
      ["plan.created", "Gone"],
      ["plan.deleted", "Gone"],
    ]);
    await assertHidden(all.find(({ data }) => data.title === "Secret")!, ann.key);
    const oldType = await server.request("/v1/events?type=board.created");
    expectAnswer(oldType, { status: 422, details: [{ field: "type", issue: "choice" }] });
    expectAnswer(await server.request(`/v1/events?type=plan.created&resourceId=${created!.resourceId}`), {
      status: 200,
      body: { data: [{ id: created!.id }] },
    });
  });
});

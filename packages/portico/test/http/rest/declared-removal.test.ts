// Deleted rows that are only marked, cascading deletes, and actions, over HTTP.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { before, describe, test } from "node:test";
import { openReader } from "../../support/database-reader.ts";
import { firstTenant } from "../../support/keys.ts";
import { expectAnswer, runCommand, serve, type TestServer } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/club");

onEachDatabase("declared deletes and actions", (database) => {
  const server = serve(database, { cwd });
  describe("marks", () => marks(server));
  describe("cascades", () => cascades(server));
  describe("collections nested under a reference", () => nestedCollections(server));
  describe("actions", () => actions(server));
  describe("values returned once and unique values of the server", () => generated(server));
});

const remove = (server: TestServer, path: string): Promise<Answer> =>
  server.request(path, { method: "DELETE" });
const pass = (server: TestServer, body: object = {}) => server.create("/passes", { holder: "Ada", ...body });
const club = async (server: TestServer): Promise<string> =>
  (await server.create("/clubs", { name: "Club" })).id;

function marks(server: TestServer): void {
  test("DELETE marks the row, once, and the row stays", async () => {
    const { id } = await pass(server);
    expectAnswer(await remove(server, `/passes/${id}`), { status: 204 });
    const { body } = await server.request(`/passes/${id}`);
    assert.equal(body.cancelledAt, body.updatedAt);
    expectAnswer(await remove(server, `/passes/${id}`), { status: 204 });
    assert.deepEqual((await server.request(`/passes/${id}`)).body, body);
  });

  test("a hook may refuse the mark, and If-Match is checked", async () => {
    const { id } = await pass(server, { holder: "kept" });
    expectAnswer(await remove(server, `/passes/${id}`), { status: 409, message: /kept/ });
    const headers = { "if-match": '"another"' };
    expectAnswer(await server.request(`/passes/${id}`, { method: "DELETE", headers }), { status: 412 });
    assert.equal((await server.request(`/passes/${id}`)).body.cancelledAt, null);
  });

  test("the mark is read-only", async () => {
    const { id } = await pass(server);
    const body = { cancelledAt: null };
    expectAnswer(await server.request(`/passes/${id}`, { method: "PATCH", body }), {
      status: 422,
      details: [{ field: "cancelledAt", issue: "read_only" }],
    });
  });
}

function cascades(server: TestServer): void {
  test("deleting a row deletes the rows that refer to it; marked ones stay and lose the reference", async () => {
    const clubId = await club(server);
    const marked = await pass(server, { clubId });
    const locker = await server.create("/lockers", { name: "1", clubId });
    expectAnswer(await remove(server, `/clubs/${clubId}`), { status: 204 });
    expectAnswer(await server.request(`/lockers/${locker.id}`), { status: 404 });
    const { body } = await server.request(`/passes/${marked.id}`);
    assert.equal(body.status, "cancelled");
    assert.equal(body.clubId, null);
  });

  test("a hook that refuses a cascaded delete keeps all rows", async () => {
    const clubId = await club(server);
    const { id } = await pass(server, { clubId });
    const locker = await server.create("/lockers", { name: "locked", clubId });
    expectAnswer(await remove(server, `/clubs/${clubId}`), { status: 409, message: /locked/ });
    expectAnswer(await server.request(`/lockers/${locker.id}`), { status: 200 });
    assert.equal((await server.request(`/passes/${id}`)).body.cancelledAt, null);
  });

  test("a cascade includes rows that a policy hides from the caller", async () => {
    const clubId = await club(server);
    const { user } = await runCommand(
      server.workspace,
      ["user", "create", "--name", "Mary", "--email", "mary@example.com", "--password", "12345678"],
      { cwd },
    );
    const words = [
      "key",
      "create",
      "--name",
      "M",
      "--user",
      user.id,
      "--scopes",
      "lockers:read,lockers:write",
    ];
    const { key } = await runCommand(server.workspace, words, { cwd });
    const { id } = await server.create("/lockers", { name: "hers", clubId }, { key });
    expectAnswer(await server.request(`/lockers/${id}`), { status: 404 });
    expectAnswer(await remove(server, `/clubs/${clubId}`), { status: 204 });
    expectAnswer(await server.request(`/lockers/${id}`, { key }), { status: 404 });
  });

  test("deleting the root deletes a tree, however deep and wide", async () => {
    const shelf = async (containerId?: string) =>
      (await server.create("/shelves", { name: "n", ...(containerId && { containerId }) })).id;
    const root = await shelf();
    let last = root;
    for (let depth = 0; depth < 30; depth += 1) last = await shelf(last);
    const wide = await Promise.all(Array.from({ length: 120 }, () => shelf(root)));
    expectAnswer(await remove(server, `/shelves/${root}`), { status: 204 });
    for (const id of [root, last, wide[0], wide[119]])
      expectAnswer(await server.request(`/shelves/${id}`), { status: 404 });
  });

  test("rows that refer to each other or to themselves do not make a delete endless", async () => {
    const [first, second, selfish] = await Promise.all(
      ["a", "b", "c"].map(async (name) => (await server.create("/shelves", { name })).id),
    );
    const refer = (id: string, containerId: string) =>
      server.request(`/shelves/${id}`, { method: "PATCH", body: { containerId } });
    await Promise.all([refer(first, second), refer(second, first), refer(selfish, selfish)]);
    expectAnswer(await remove(server, `/shelves/${selfish}`), { status: 204 });
    expectAnswer(await remove(server, `/shelves/${first}`), { status: 409, code: "conflict" });
    expectAnswer(await server.request(`/shelves/${second}`), { status: 200 });
    await server.request(`/shelves/${second}`, { method: "PATCH", body: { containerId: null } });
    expectAnswer(await remove(server, `/shelves/${second}`), { status: 204 });
    expectAnswer(await server.request(`/shelves/${first}`), { status: 404 });
  });
}

function nestedCollections(server: TestServer): void {
  let tenant = "";
  before(async () => {
    tenant = await firstTenant(server.workspace);
  });

  test("the collection under a row contains the rows that refer to it, with filters and fields", async () => {
    const [clubId, other] = [await club(server), await club(server)];
    const { id } = await pass(server, { clubId });
    await pass(server, { clubId: other });
    const listed = (await server.request(`/clubs/${clubId}/passes?status=waiting&fields=holder`)).body;
    assert.deepEqual(listed.data, [{ id, holder: "Ada" }]);
    assert.deepEqual((await server.request(`/v1/clubs/${clubId}/passes?status=ended`)).body.data, []);
    expectAnswer(await server.request(`/clubs/${clubId}/passes`, { body: { holder: "x" } }), { status: 405 });
    expectAnswer(await server.request("/clubs/club_00000000000000000000000000/passes"), { status: 404 });
  });

  test("DELETE of the collection marks or deletes all rows, or none if a hook refuses one", async () => {
    const clubId = await club(server);
    const [first, blocking] = [
      await pass(server, { clubId }),
      await pass(server, { clubId, holder: "kept" }),
    ];
    expectAnswer(await remove(server, `/clubs/${clubId}/passes`), { status: 409, message: /kept/ });
    assert.equal((await server.request(`/passes/${first.id}`)).body.cancelledAt, null);
    await server.request(`/passes/${blocking.id}`, { method: "PATCH", body: { holder: "free" } });
    expectAnswer(await remove(server, `/clubs/${clubId}/passes`), { status: 204 });
    for (const { id } of [first, blocking])
      assert.equal((await server.request(`/passes/${id}`)).body.status, "cancelled");
  });

  test("DELETE of a collection without hooks deletes many rows at once, with an event each", async () => {
    const reader = openReader(server.workspace.databaseUrl);
    try {
      const created = await Promise.all([1, 2, 3, 4].map(() => server.create("/tickets", {})));
      const ids = created.map(({ id }) => id).sort();
      expectAnswer(await remove(server, `/tenants/${tenant}/tickets`), { status: 204 });
      assert.deepEqual((await server.request("/tickets")).body.data, []);
      const deleted = "from events where kind = 'ticket.deleted'";
      const rows = await reader.rows(`select row_id ${deleted} order by sequence`);
      assert.deepEqual(rows.flat(), ids);
      // `cmin` counts the statements of a transaction.
      if (server.workspace.databaseUrl.startsWith("postgres"))
        assert.equal((await reader.rows(`select distinct xmin, cmin ${deleted}`)).length, 1);
    } finally {
      await reader.close();
    }
  });

  test("concurrent deletes of rows that cascade to each other all succeed", async () => {
    const top = (await server.create("/shelves", { name: "top" })).id;
    for (let count = 0; count < 3; count += 1) {
      const { id } = await server.create("/shelves", { name: "mid", containerId: top });
      await server.create("/shelves", { name: "low", containerId: id });
    }
    expectAnswer(await remove(server, `/shelves/${top}/shelves`), { status: 204 });
    expectAnswer(await server.request(`/shelves/${top}`), { status: 200 });
    expectAnswer(await remove(server, `/tenants/${tenant}/shelves`), { status: 204 });
    assert.deepEqual((await server.request("/shelves")).body.data, []);
    expectAnswer(await remove(server, "/tenants/tenant_00000000000000000000000000/shelves"), { status: 404 });
  });
}

function actions(server: TestServer): void {
  const act = (id: string, segment: string, body?: unknown): Promise<Answer> =>
    server.request(`/passes/${id}/${segment}`, { method: "POST", ...(body !== undefined && { body }) });

  test("an action returns a row, and its input has defaults and timestamps in UTC", async () => {
    const { id } = await pass(server);
    const answer = await act(id, "renewals");
    expectAnswer(answer, { status: 201, body: { id, renewed: 1, isNow: true, isCaller: true } });
    assert.equal(answer.headers.get("location"), `/passes/${id}`);
    assert.partialDeepStrictEqual(answer.body.said, { months: 1, until: null, reason: "for one" });
    const renewed = await act(id, "renewals", {
      months: 3,
      from: "2027-01-01T01:00:00+01:00",
      until: "2027-06-01T00:00:00Z",
    });
    assert.partialDeepStrictEqual(renewed.body.said, {
      months: 3,
      from: "2027-01-01T00:00:00.000Z",
      until: "2027-06-01T00:00:00.000Z",
      reason: "for 3",
    });
    assert.equal((await server.request(`/passes/${id}`)).body.renewed, 4);
  });

  test("the input of an action is validated against its declaration", async () => {
    const { id } = await pass(server);
    const body = { months: 13, from: "soon", reason: "x".repeat(21), colour: 1 };
    expectAnswer(await act(id, "renewals", body), {
      status: 422,
      details: [
        { field: "months", issue: "max" },
        { field: "from", issue: "format" },
        { field: "reason", issue: "max" },
        { field: "colour", issue: "unknown" },
      ],
    });
    const needed = { status: 422, details: [{ field: "holder", issue: "required" }] } as const;
    expectAnswer(await act(id, "transfers"), needed);
    expectAnswer(await act(id, "transfers", {}), needed);
    expectAnswer(await act(id, "transfers", { holder: "Eve" }), { status: 201, body: { holder: "Eve" } });
  });

  test("an action that throws is rolled back, and its path accepts POST only", async () => {
    const { id } = await pass(server);
    await remove(server, `/passes/${id}`);
    expectAnswer(await act(id, "renewals"), { status: 409, message: /cancelled/ });
    expectAnswer(await server.request(`/passes/${id}/renewals`), {
      status: 405,
      headers: { allow: "POST, OPTIONS" },
    });
    expectAnswer(await act(id, "returns"), { status: 404 });
    expectAnswer(await act("x", "renewals"), { status: 404 });
  });

  test("a deprecated resource has its headers on actions and nested collections too", async () => {
    const { id } = await server.create("/tickets", {});
    const tenant = await firstTenant(server.workspace);
    for (const answer of [
      await server.request(`/tickets/${id}/stamps`, { method: "POST" }),
      await server.request(`/tenants/${tenant}/tickets`),
      await remove(server, `/tenants/${tenant}/tickets`),
    ])
      assert.match(answer.headers.get("deprecation") ?? "", /^@\d+$/, String(answer.status));
  });
}

function generated(server: TestServer): void {
  test("a value that a hook returns once is in that response and nowhere else", async () => {
    const created = await pass(server);
    assert.equal(created.pin, "1234");
    const path = `/passes/${created.id}`;
    const { body } = await server.request(path);
    assert.equal("pin" in body, false);
    const changed = await server.request(path, { method: "PATCH", body: { holder: "revealed" } });
    assert.equal(changed.body.note, "shown once");
    assert.equal("note" in (await server.request(path)).body, false);
    assert.equal((await server.request(path)).headers.get("etag"), changed.headers.get("etag"));
  });

  test("the old name of `returnOnce` is an error that names the new one", async () => {
    const { id } = await pass(server);
    const refused = await server.request(`/passes/${id}`, { method: "PATCH", body: { holder: "old name" } });
    assert.equal(refused.status, 500);
    assert.match(refused.body.error.message, /reveal was renamed; write returnOnce/);
  });

  test("a unique value that the server generates is generated again until it is free", async () => {
    const created = await Promise.all(
      Array.from({ length: 8 }, () => server.request("/tickets", { body: {} })),
    );
    for (const answer of created) expectAnswer(answer, { status: 201 });
    assert.equal(new Set(created.map(({ body }) => body.digit)).size, 8);
  });
}

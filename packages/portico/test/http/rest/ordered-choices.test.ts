// Choices that are ordered, references that are unique, and the forms of timestamps in filters.

import { deepEqual } from "node:assert/strict";
import { after, before, test } from "node:test";
import { app, belongsTo, choice, range, resource, text, timestamp } from "portico";
import { expectAnswer } from "../../support/scenario.ts";
import { makeWorkspace, onEachDatabase, Portico, type Workspace } from "../../support/server.ts";

/** @param ordered without it, the priorities have no order */
function declared(priorities: readonly string[], ordered = true) {
  const tickets = resource("ticket", {
    fields: {
      title: text({ max: 20 }),
      priority: choice(priorities, ordered ? { default: "low", ordered: true } : { default: "low" }),
      dueAt: timestamp({ optional: true }),
    },
    filter: [range("priority"), range("dueAt")],
    sort: ["priority"],
    policy: ({ caller }) => caller.role === "owner" || { priority: { lt: "high" } },
  });
  const desks = resource("desk", {
    fields: { ticket: belongsTo(() => tickets, { unique: true, optional: true }) },
  });
  return app({
    name: "Tickets",
    resources: [tickets, desks],
    roles: { owner: "*", member: ["tickets:read", "tickets:write", "events:read"] },
  });
}

onEachDatabase("choices that are ordered", (database) => {
  let workspace: Workspace;
  let portico: Portico;
  let key: string;
  const restart = async (priorities: readonly string[], ordered = true): Promise<void> => {
    await portico?.stop();
    portico = await Portico.startApp(workspace, declared(priorities, ordered), { ...(key && { key }) });
    key ??= portico.key;
  };
  const titles = async (query: string, more: object = {}): Promise<string> => {
    const { body, text: answer } = await portico.request(`/tickets?${query}`, more);
    return body.data?.map(({ title }: { title: string }) => title).join("") ?? answer;
  };
  const create = async (path: string, body: object): Promise<string> => {
    const created = await portico.request(path, { body });
    expectAnswer(created, { status: 201 });
    return created.body.id;
  };
  before(async () => {
    workspace = await makeWorkspace(database);
    await restart(["low", "high", "urgent"], false);
    for (const [title, priority] of Object.entries({ a: "urgent", b: "low", c: "high", d: "low" }))
      await create("/tickets", { title, priority });
  });
  after(async () => {
    await portico?.stop();
    await workspace?.remove();
  });

  test("a choice that becomes ordered sorts and compares the rows that exist by its order", async () => {
    deepEqual(await titles("sort=priority"), "cbda");
    await restart(["low", "high", "urgent"]);
    deepEqual(await titles("sort=priority"), "bdca");
    deepEqual(await titles("sort=-priority"), "acdb");
    deepEqual(await titles("sort=priority&priority[gte]=high"), "ca");
    deepEqual(await titles("sort=priority&priority[lt]=high&priority[ne]=urgent"), "bd");
    deepEqual(await titles("sort=priority&priority=urgent&priority=low"), "bda");
    const query =
      "{ ticketsConnection(filter: { priorityGt: low }, sort: PRIORITY_DESC) { edges { node { title } } } }";
    const { body } = await portico.request("/graphql", { body: { query } });
    deepEqual(
      body.data.ticketsConnection.edges.map(({ node }: { node: { title: string } }) => node.title),
      ["a", "c"],
    );
  });

  test("policies compare by the order, also the row of an event and a row that is written", async () => {
    const { id: ownerId } = (
      await portico.request("/users", { body: { name: "Bob", email: "bob@example.com", role: "member" } })
    ).body;
    const member = (await portico.request("/v1/api-keys", { body: { name: "Bob", scopes: ["*"], ownerId } }))
      .body.key;
    deepEqual(await titles("sort=priority", { key: member }), "bd");
    const refused = await portico.request("/tickets", {
      key: member,
      body: { title: "x", priority: "urgent" },
    });
    expectAnswer(refused, { status: 403 });
    const { body } = await portico.request("/v1/events", { key: member });
    deepEqual(body.data.map(({ data }: { data: { title: string } }) => data.title).sort(), ["b", "d"]);
  });

  test("a choice that is added in the middle sorts there, and a cursor of the old order goes on", async () => {
    const { body } = await portico.request("/tickets?sort=priority&limit=3");
    await restart(["low", "medium", "high", "urgent"]);
    await create("/tickets", { title: "e", priority: "medium" });
    deepEqual(await titles("sort=priority"), "bdeca");
    deepEqual(await titles(`sort=priority&limit=3&cursor=${body.pagination.nextCursor}`), "a");
    deepEqual(await titles(`sort=priority&direction=backward&cursor=${body.pagination.nextCursor}`), "bde");
  });

  test("choices in another order, and one that is no longer declared", async () => {
    await restart(["urgent", "high", "medium", "low"]);
    deepEqual(await titles("sort=priority"), "acebd");
    await restart(["low", "high", "urgent"]);
    deepEqual(await titles("sort=priority"), "ebdca");
    const { body } = await portico.request("/tickets?sort=priority&limit=1");
    deepEqual(await titles(`sort=priority&cursor=${body.pagination.nextCursor}`), "bdca");
  });

  test("a second reference to one row is a conflict that names the field", async () => {
    const ticketId = await create("/tickets", { title: "f" });
    await create("/desks", { ticketId });
    for (const _ of [1, 2]) await create("/desks", { ticketId: null });
    const answer = await portico.request("/desks", { body: { ticketId } });
    expectAnswer(answer, {
      status: 409,
      code: "conflict",
      details: [{ field: "ticketId", issue: "duplicate" }],
      message: /^Another desk already has the same ticketId\.$/,
    });
  });

  test("a filter accepts the forms of a timestamp that a body accepts", async () => {
    const forms = [
      "2026-11-21T10:30:00+01:00",
      "2026-11-21T09:30:00Z",
      "2026-11-21T09:30:00.000Z",
      "2026-11-21t09:30:00.0000z",
      "2026-11-21T04:00:00-05:30",
    ];
    const sent = forms.map((dueAt, index) => ({ title: String(index), dueAt }));
    for (const body of sent) await create("/tickets", body);
    const all = "sort=createdAt";
    for (const form of forms) {
      deepEqual(await titles(`${all}&dueAt=${encodeURIComponent(form)}`), "01234", form);
      // A plus sign that is not encoded is a space.
      deepEqual(await titles(`${all}&dueAt[gte]=${form}`), "01234", form);
      const query = `{ ticketsConnection(filter: { dueAt: "${form}" }) { edges { node { id } } } }`;
      const { body } = await portico.request("/graphql", { body: { query } });
      deepEqual(body.data.ticketsConnection.edges.length, 5, form);
    }
    const wrong = await portico.request("/tickets?dueAt=2026-11-21T09:30:00 01");
    expectAnswer(wrong, { status: 422, details: [{ field: "dueAt", issue: "format" }] });
  });
});

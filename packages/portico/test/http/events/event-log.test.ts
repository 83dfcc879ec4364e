// The event log: what happened to the rows that a caller sees, newest first, in pages of bounded work.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { LoggedEvent } from "../../../client/index.ts";
import { openReader } from "../../support/database-reader.ts";
import { makeKey } from "../../support/keys.ts";
import { expectAnswer, scenarios } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";
import { serveEventLog } from "./event-log-server.ts";

onEachDatabase("the event log", (database) => {
  const server = serveEventLog(database);
  const summary = (listed: readonly LoggedEvent[]) =>
    listed.map(({ type, resourceId }) => [type, resourceId]);

  test("has each write of a row as the API shows it, newest first", async () => {
    const made = await server.board("First");
    const { body: changed } = await server.change(
      `/boards/${made.id}`,
      "PATCH",
      { name: "Second" },
      server.ann.key,
    );
    const child = await server.card(made, "On it");
    await server.change(`/boards/${made.id}`, "DELETE");
    const [first, second, third, fourth, fifth] = await server.events("?limit=5");
    assert.deepEqual(
      [first, second, third, fourth, fifth].map((each) => [
        each!.type,
        each!.resource,
        each!.resourceId,
        each!.data,
      ]),
      [
        ["board.deleted", "board", made.id, changed],
        ["board_card.deleted", "board_card", child.id, child],
        ["board_card.created", "board_card", child.id, child],
        ["board.updated", "board", made.id, changed],
        ["board.created", "board", made.id, made],
      ],
    );
    assert.equal("code" in fifth!.data, false);
    assert.match(first!.id, /^event_[0-9a-z]{26}$/);
    assert.deepEqual(Object.keys(first!), ["id", "type", "resource", "resourceId", "data", "createdAt"]);
    const one = await server.request(`/v1/events/${third!.id}`);
    expectAnswer(one, { status: 200 });
    assert.deepEqual(one.body, third);
    expectAnswer(await server.request(`/events/${third!.id}`), { status: 404 });
  });

  test("has no secrets, and no rows that the API does not serve", async () => {
    await makeKey(server, { scopes: ["boards:read"] });
    const [created] = await server.events("?type=api_key.created&limit=1");
    assert.deepEqual(
      [created!.resource, "key" in created!.data, "keyHash" in created!.data],
      ["api_key", false, false],
    );
    const resources = new Set((await server.pages("?limit=100")).map((each) => each.resource));
    assert.deepEqual([...resources].sort(), ["api_key", "board", "board_card", "user"]);
  });

  test("filters by type, resource, row and time", async () => {
    const [one, other] = [await server.board("One"), await server.board("Other")];
    await server.card(one, "Card");
    await server.change(`/boards/${one.id}`, "PATCH", { name: "Uno" });
    assert.deepEqual(summary(await server.events(`?resourceId=${one.id}`)), [
      ["board.updated", one.id],
      ["board.created", one.id],
    ]);
    const both = `?resourceId=${one.id}&resourceId=${other.id}`;
    assert.equal((await server.events(both)).length, 3);
    assert.deepEqual(summary(await server.events(`${both}&type=board.created`)), [
      ["board.created", other.id],
      ["board.created", one.id],
    ]);
    assert.deepEqual(await server.events(`${both}&resource=board_card`), []);
    const all = await server.events(both);
    const [updated, , created] = all;
    const since = (operator: string, { createdAt }: LoggedEvent) => `&createdAt[${operator}]=${createdAt}`;
    const expected = (keep: (at: string) => boolean) => all.filter(({ createdAt }) => keep(createdAt));
    assert.deepEqual(
      await server.events(both + since("gte", updated!)),
      expected((at) => at >= updated!.createdAt),
    );
    assert.deepEqual(
      await server.events(both + since("gt", created!)),
      expected((at) => at > created!.createdAt),
    );
    assert.deepEqual(
      await server.events(both + since("lte", created!)),
      expected((at) => at <= created!.createdAt),
    );
    assert.deepEqual(
      await server.events(both + since("lt", updated!)),
      expected((at) => at < updated!.createdAt),
    );
    assert.deepEqual(await server.events(`${both}&createdAt[gte]=2001-01-01&createdAt[lt]=2002-01-01`), []);
    const afterCreated = await server.events(`?after=${created!.id}&sort=createdAt&limit=100`);
    assert.deepEqual(summary(afterCreated).slice(0, 1), [["board.created", other.id]]);
    assert.deepEqual(afterCreated.at(-1), updated);
  });

  test("pages lead through every event once, in both orders and directions", async () => {
    const newest = await server.pages("?limit=100");
    assert.ok(newest.length > 10);
    assert.deepEqual(await server.pages("?limit=3"), newest);
    assert.deepEqual(await server.pages("?limit=3&sort=createdAt"), newest.toReversed());
    assert.deepEqual(
      await server.pages("?limit=3&type=board.created"),
      newest.filter(({ type }) => type === "board.created"),
    );
    const { body, headers } = await server.list("?limit=2");
    const { prevCursor, nextCursor } = body.pagination;
    assert.match(
      headers.get("link")!,
      new RegExp(`^</v1/events\\?limit=2&cursor=${nextCursor}>; rel="next"$`),
    );
    const second = await server.list(`?limit=2&cursor=${nextCursor}`);
    const back = await server.list(`?limit=2&direction=backward&cursor=${second.body.pagination.prevCursor}`);
    assert.deepEqual(back.body.data, newest.slice(0, 2));
    assert.equal(back.body.pagination.hasMore, false);
    assert.deepEqual(
      (await server.list(`?limit=2&cursor=${back.body.pagination.nextCursor}`)).body,
      second.body,
    );
    // What happens later follows the first event that a reader has seen.
    const later = [await server.board("Later"), await server.board("Latest")];
    const followed = await server.list(`?direction=backward&cursor=${prevCursor}`);
    assert.deepEqual(summary(followed.body.data), summary(await server.events("?limit=2")));
    assert.equal(followed.body.data[1].resourceId, later[0].id);
  });

  test("a caller sees the events of rows that it may read now, and of resources whose scope it has", async () => {
    const mine = await server.board("Mine", server.ann);
    const his = await server.board("His", server.bob);
    const child = await server.card(his, "His card");
    const seen = async (key: string) =>
      (await server.pages("?limit=100", key)).map(({ resourceId }) => resourceId);
    const ofAnn = await seen(server.ann.key);
    assert.ok(ofAnn.includes(mine.id) && !ofAnn.includes(his.id) && !ofAnn.includes(child.id));
    const ofBob = await seen(server.bob.key);
    assert.ok(!ofBob.includes(mine.id) && ofBob.includes(his.id) && ofBob.includes(child.id));
    const [event] = await server.events(`?resourceId=${child.id}`, server.bob.key);
    expectAnswer(await server.request(`/v1/events/${event!.id}`, { key: server.bob.key }), { status: 200 });
    const unseen = { status: 404, code: "not_found" } as const;
    expectAnswer(await server.request(`/v1/events/${event!.id}`, { key: server.ann.key }), unseen);
    // The parent of the card is another person's from now on.
    await server.change(`/boards/${his.id}`, "PATCH", { ownerId: server.ann.id });
    assert.deepEqual(await server.events(`?resourceId=${child.id}`, server.bob.key), []);
    assert.equal((await server.events(`?resourceId=${child.id}`, server.ann.key)).length, 1);
    const { key } = await makeKey(server, {
      scopes: ["events:read", "board-cards:read"],
      ownerId: server.ann.id,
    });
    const resources = new Set((await server.pages("?limit=100", key)).map((each) => each.resource));
    assert.deepEqual([...resources], ["board_card"]);
    const without = await makeKey(server, { scopes: ["boards:read"], ownerId: server.ann.id });
    expectAnswer(await server.request("/v1/events", { key: without.key }), {
      status: 403,
      code: "insufficient_scope",
    });
  });

  test("a page ends after a bounded number of events that the caller does not see", async () => {
    const mine = await server.board("Before many", server.ann);
    const reader = openReader(server.workspace.databaseUrl);
    const hiddenRow = JSON.stringify({ ...mine, ownerId: server.bob.id });
    const copy = `('event_hidden', (select no from tenants limit 1), 'board', 'board.created', 'hidden', '${hiddenRow}', 'none', '${new Date().toISOString()}')`;
    for (let inserted = 0; inserted < 6_000; inserted += 1_000)
      await reader.write(
        `insert into events (id, tenant_no, resource, kind, row_id, row, credential_id, created_at) values ${Array(1_000).fill(copy).join()}`,
      );
    const { data, pagination } = (await server.list("", server.ann.key)).body;
    assert.deepEqual([data, pagination.hasMore], [[], true]);
    const rest = await server.list(`?limit=1&cursor=${pagination.nextCursor}`, server.ann.key);
    assert.equal(rest.body.data[0].resourceId, mine.id);
    const [event] = await server.events(
      `?resourceId=${mine.id}&sort=createdAt&limit=1&createdAt[lt]=2100-01-01`,
      server.ann.key,
    );
    const followed = await server.list(`?sort=createdAt&after=${event!.id}`, server.ann.key);
    assert.deepEqual([followed.body.data, followed.body.pagination.hasMore], [[], true]);
    // The events of a row are found among many more: in one page so far.
    assert.deepEqual(summary(await server.events(`?resourceId=${mine.id}`)), [["board.created", mine.id]]);
    await reader.write(`with recursive n (i) as (select 1 union all select i + 1 from n where i < 46000)
      insert into events (id, tenant_no, resource, kind, row_id, row, credential_id, created_at)
      select e.id, e.tenant_no, e.resource, e.kind, e.row_id, e.row, e.credential_id, e.created_at
      from n cross join (select * from events where row_id = 'hidden' limit 1) as e`);
    await server.change(`/boards/${mine.id}`, "PATCH", { name: "After many" });
    for (const sort of ["", "&sort=createdAt"]) {
      const { body } = await server.list(`?resourceId=${mine.id}${sort}`);
      assert.deepEqual([body.data.length, body.pagination.hasMore], [1, true]);
      const found = await server.pages(`?resourceId=${mine.id}${sort}`);
      const types = found.map(({ type }) => type);
      assert.deepEqual(types.sort(), ["board.created", "board.updated"]);
      const last = await server.list(`?resourceId=${mine.id}${sort}&cursor=${body.pagination.nextCursor}`);
      const { prevCursor } = last.body.pagination;
      const back = await server.list(`?resourceId=${mine.id}${sort}&direction=backward&cursor=${prevCursor}`);
      assert.equal(back.body.pagination.hasMore, true);
    }
    await reader.write("delete from events where row_id = 'hidden'");
    await reader.close();
  });

  test("a reader that resumes before the oldest event that is kept is told so", async () => {
    const ids = [await server.board("Gone 1"), await server.board("Gone 2"), await server.board("Kept")].map(
      ({ id }) => id,
    );
    const { pagination } = (await server.list(`?limit=1&resourceId=${ids[0]}`)).body;
    const [gone] = await server.events(`?resourceId=${ids[0]}`);
    const reader = openReader(server.workspace.databaseUrl);
    const columns = database === "sqlite" ? "0" : "transaction_id";
    await reader.write(`insert into purged_events (tenant_no, resource, sequence, transaction_id)
      select tenant_no, resource, sequence, ${columns} from events where row_id = '${ids[1]}'`);
    await reader.write(`delete from events where row_id in ('${ids[0]}', '${ids[1]}')`);
    await reader.close();
    const resumed = await server.request(
      `/v1/events?limit=1&resourceId=${ids[0]}&direction=backward&cursor=${pagination.prevCursor}`,
    );
    expectAnswer(resumed, {
      status: 422,
      details: [{ field: "cursor", issue: "min" }],
      message: /have been deleted/,
    });
    const after = await server.request(`/v1/events?after=${gone!.id}`);
    expectAnswer(after, { status: 422, details: [{ field: "after", issue: "reference" }] });
    expectAnswer(await server.request(`/v1/events/${gone!.id}`), { status: 404, code: "not_found" });
  });

  const invalid = { status: 422, code: "validation_error" } as const;
  scenarios(server, [
    {
      fact: "an unknown parameter is refused",
      path: "/v1/events?kind=x",
      ...invalid,
      details: [{ field: "kind", issue: "unknown" }],
    },
    {
      fact: "an unknown type is refused",
      path: "/v1/events?type=trace.created",
      ...invalid,
      details: [{ field: "type", issue: "choice" }],
    },
    {
      fact: "an unknown resource is refused",
      path: "/v1/events?resource=email",
      ...invalid,
      details: [{ field: "resource", issue: "choice" }],
    },
    {
      fact: "a wrong time is refused",
      path: "/v1/events?createdAt[gte]=soon",
      ...invalid,
      details: [{ field: "createdAt[gte]", issue: "format" }],
    },
    {
      fact: "a wrong sort is refused",
      path: "/v1/events?sort=type",
      ...invalid,
      details: [{ field: "sort", issue: "choice" }],
    },
    {
      fact: "an invalid cursor is refused",
      path: "/v1/events?cursor=eyJ4Ijo",
      status: 400,
      code: "invalid_cursor",
    },
    {
      fact: "a cursor of other filters is refused",
      path: async () =>
        `/v1/events?resource=board&cursor=${(await server.list("?limit=1")).body.pagination.nextCursor}`,
      status: 400,
      code: "invalid_cursor",
    },
    {
      fact: "an id of no event is not found",
      path: "/v1/events/event_01k00000000000000000000000",
      status: 404,
      code: "not_found",
    },
    { fact: "a text that is no id is not found", path: "/v1/events/%00", status: 404 },
    { fact: "an event takes no parameters", path: "/v1/events/x?fields=id", ...invalid },
    {
      fact: "events cannot be written",
      path: "/v1/events",
      body: {},
      status: 405,
      code: "method_not_allowed",
    },
  ]);
});

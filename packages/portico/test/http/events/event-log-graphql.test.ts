// The event log in GraphQL: the events, filters and cursors of REST, for the same callers.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { LoggedEvent } from "../../../client/index.ts";
import { dataOf, expectError, requestGraphql } from "../../support/graphql/request.ts";
import { makeKey } from "../../support/keys.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { onEachDatabase } from "../../support/server.ts";
import { serveEventLog } from "./event-log-server.ts";

const members = "id type resource resourceId data createdAt";

interface Connection {
  readonly edges: readonly { readonly cursor: string; readonly node: LoggedEvent }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
}

onEachDatabase("the event log in GraphQL", (database) => {
  const server = serveEventLog(database);

  const connection = async (args: string, key?: string): Promise<Connection> => {
    const page = `edges { cursor node { ${members} } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }`;
    const query = `{ eventsConnection${args && `(${args})`} { ${page} } }`;
    return (await dataOf(server, query, key === undefined ? {} : { key })).eventsConnection;
  };
  const nodes = async (args: string, key?: string) =>
    (await connection(args, key)).edges.map(({ node }) => node);
  const rest = async (query: string, key?: string) => (await server.list(query, key)).body;

  test("an event is what REST shows, and null if the caller does not see it", async () => {
    const board = await server.board("Here", server.ann);
    const [expected] = await server.events(`?resourceId=${board.id}`);
    const read = async (id: string, key?: string) =>
      (await dataOf(server, `{ event(id: "${id}") { ${members} } }`, key === undefined ? {} : { key })).event;
    assert.deepEqual(await read(expected!.id), expected);
    assert.deepEqual(await read(expected!.id, server.ann.key), expected);
    assert.equal(await read(expected!.id, server.bob.key), null);
    assert.equal(await read("event_01k00000000000000000000000"), null);
    assert.equal(await read("x"), null);
    const query = `{ one: event(id: "${expected!.id}") { __typename ...named } } fragment named on Event { what: type on: data }`;
    assert.deepEqual(await dataOf(server, query), {
      one: { __typename: "Event", what: "board.created", on: board },
    });
  });

  test("pages have the events and cursors of REST, in both orders and directions", async () => {
    const all = (await rest("?limit=100")).data;
    assert.ok(all.length > 5);
    for (const [sort, restSort] of [
      ["", ""],
      [", sort: CREATED_AT_ASC", "&sort=createdAt"],
    ]) {
      const first = await connection(`first: 2${sort}`);
      const expected = await rest(`?limit=2${restSort}`);
      assert.deepEqual(
        first.edges.map(({ node }) => node),
        expected.data,
      );
      const { startCursor, endCursor } = first.pageInfo;
      assert.deepEqual(first.pageInfo, {
        hasNextPage: true,
        hasPreviousPage: false,
        startCursor: expected.pagination.prevCursor,
        endCursor: expected.pagination.nextCursor,
      });
      assert.deepEqual(
        first.edges.map(({ cursor }) => cursor),
        [startCursor, endCursor],
      );
      const second = await connection(`first: 3, after: "${endCursor}"${sort}`);
      assert.deepEqual(
        second.edges.map(({ node }) => node),
        (await rest(`?limit=3${restSort}&cursor=${endCursor}`)).data,
      );
      assert.equal(second.pageInfo.hasPreviousPage, true);
      const back = await connection(`last: 2, before: "${second.pageInfo.startCursor}"${sort}`);
      assert.deepEqual(back.edges, first.edges);
      assert.deepEqual([back.pageInfo.hasNextPage, back.pageInfo.hasPreviousPage], [true, false]);
      const last = await connection(`last: 1${sort}`);
      assert.deepEqual(last.edges[0]!.node, sort === "" ? all.at(-1) : all[0]);
      assert.equal(last.pageInfo.endCursor, last.edges[0]!.cursor);
    }
  });

  test("filters select what those of REST select", async () => {
    const board = await server.board("Filtered", server.ann);
    const card = await server.card(board, "Card");
    const [{ createdAt, id }] = (await server.events(`?resourceId=${board.id}`)) as [LoggedEvent];
    for (const [filter, query] of [
      [`resourceId: ["${board.id}", "${card.id}"]`, `?resourceId=${card.id}&resourceId=${board.id}`],
      [`type: ["board.created"]`, "?type=board.created"],
      [`resource: ["board_card", "user"]`, "?resource=user&resource=board_card"],
      [`createdAtGte: "${createdAt}"`, `?createdAt[gte]=${createdAt}`],
      [`createdAtGt: "${createdAt}"`, `?createdAt[gt]=${createdAt}`],
      [`createdAtLte: "${createdAt}"`, `?createdAt[lte]=${createdAt}`],
      [`createdAtLt: "${createdAt}"`, `?createdAt[lt]=${createdAt}`],
      [`after: "${id}"`, `?after=${id}`],
      [`type: []`, undefined],
    ] as const) {
      const found = await nodes(`first: 100, filter: { ${filter} }`);
      assert.deepEqual(found, query === undefined ? [] : (await rest(`${query}&limit=100`)).data, filter);
    }
    // A cursor belongs to its filter, whatever the order of its values.
    const { nextCursor } = (await rest(`?limit=1&resource=board&resource=board_card`)).pagination;
    const [next] = await nodes(
      `first: 1, after: "${nextCursor}", filter: { resource: ["board_card", "board"] }`,
    );
    assert.ok(next);
    expectError(
      await requestGraphql(server, `{ eventsConnection(after: "${nextCursor}") { edges { cursor } } }`),
      {
        code: "invalid_cursor",
      },
    );
  });

  test("any filter, in pages of any size and in both directions, finds what the whole log has", async () => {
    for (const member of [server.ann, server.bob]) {
      const board = await server.board("Random", member);
      await server.card(board, "One");
      await server.change(`/boards/${board.id}`, "PATCH", { name: "Changed" });
      await server.change(`/boards/${board.id}`, "DELETE");
    }
    const callers = await Promise.all(
      [server.portico.key, server.ann.key, server.bob.key].map(async (key) => ({
        key,
        all: await server.pages("?limit=100&sort=createdAt", key),
      })),
    );
    const { all: whole } = callers[0]!;
    const some = (member: "type" | "resource" | "resourceId") =>
      fc.option(
        fc.uniqueArray(fc.constantFrom(...new Set(whole.map((event) => event[member]))), {
          minLength: 1,
          maxLength: 4,
        }),
      );
    const time = fc.option(fc.constantFrom(...whole.map(({ createdAt }) => createdAt)));
    const request = fc.record({
      caller: fc.constantFrom(...callers),
      type: some("type"),
      resource: some("resource"),
      resourceId: some("resourceId"),
      since: time,
      until: time,
      limit: fc.integer({ min: 1, max: 7 }),
      isOldestFirst: fc.boolean(),
      isBackward: fc.boolean(),
    });
    const property = fc.asyncProperty(request, async ({ caller, since, until, ...options }) => {
      const lists = { type: options.type, resource: options.resource, resourceId: options.resourceId };
      const expected = caller.all.filter(
        (event) =>
          Object.entries(lists).every(
            ([name, values]) => values?.includes(String(event[name as keyof LoggedEvent])) ?? true,
          ) &&
          (since === null || event.createdAt >= since) &&
          (until === null || event.createdAt < until),
      );
      const filter = [
        ...Object.entries(lists).map(([name, values]) =>
          values ? `${name}: ${JSON.stringify(values)}` : "",
        ),
        since ? `createdAtGte: "${since}"` : "",
        until ? `createdAtLt: "${until}"` : "",
      ].join(" ");
      const { limit, isOldestFirst, isBackward } = options;
      const sort = isOldestFirst ? "CREATED_AT_ASC" : "CREATED_AT_DESC";
      const found: LoggedEvent[] = [];
      for (let cursor: string | null = null; ; ) {
        const place = cursor === null ? "" : `, ${isBackward ? "before" : "after"}: "${cursor}"`;
        const size = isBackward ? "last" : "first";
        const page: Connection = await connection(
          `${size}: ${limit}${place}, sort: ${sort}, filter: { ${filter} }`,
          caller.key,
        );
        const events = page.edges.map(({ node }) => node);
        if (isBackward) found.unshift(...events);
        else found.push(...events);
        const { hasNextPage, hasPreviousPage, startCursor, endCursor } = page.pageInfo;
        if (!(isBackward ? hasPreviousPage : hasNextPage)) break;
        cursor = isBackward ? startCursor : endCursor;
      }
      assert.deepEqual(found, isOldestFirst ? expected : expected.toReversed());
    });
    await fc.assert(property, { numRuns: randomRuns(60, 25) });
  });

  test("a caller sees the events that REST shows it, and needs the scope", async () => {
    for (const { key } of [server.ann, server.bob])
      assert.deepEqual(await nodes("first: 100", key), (await rest("?limit=100", key)).data);
    const { key } = await makeKey(server, { scopes: ["boards:read"], ownerId: server.ann.id });
    for (const field of ["eventsConnection", 'event(id: "x")'])
      expectError(await requestGraphql(server, `{ ${field} { __typename } }`, { key }), {
        code: "insufficient_scope",
        path: [field.replace(/\(.*/, "")],
      });
  });

  for (const [args, details] of [
    ['filter: { type: ["trace.created"] }', { field: "filter.type", issue: "choice" }],
    ['filter: { resource: ["email"] }', { field: "filter.resource", issue: "choice" }],
    ["filter: { createdAtGte: null }", { field: "filter.createdAtGte", issue: "type" }],
    [`filter: { resourceId: [${"1,".repeat(51)}] }`, { field: "filter.resourceId", issue: "max" }],
    ['filter: { after: "event_01k00000000000000000000000" }', { field: "after", issue: "reference" }],
    ["first: 1, last: 1", { field: "last", issue: "duplicate" }],
  ] as const)
    test(`eventsConnection(${args.slice(0, 50)}) is refused`, async () => {
      expectError(await requestGraphql(server, `{ eventsConnection(${args}) { __typename } }`), {
        code: "validation_error",
        details: [details],
      });
    });

  test("the fields cost as much as requests, so that an operation reads a bounded part of the log", async () => {
    const extensions = { cost: true };
    const one = await requestGraphql(server, "{ eventsConnection(first: 5) { __typename } }", { extensions });
    assert.equal(one.body.extensions.cost, 105);
    const many = Array.from({ length: 260 }, (_, n) => `e${n}: event(id: "x") { id }`).join(" ");
    expectError(await requestGraphql(server, `{ ${many} }`), {
      code: "validation_error",
      details: [{ field: "cost", issue: "max" }],
    });
  });
});

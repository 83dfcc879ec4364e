// Sorts by several fields: the order of rows, and the pages before and after every cursor, compared with a plain list.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { dataOf, expectError, requestGraphql } from "../../support/graphql/request.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";
import { type Filter, type ListQuery, listed, type Row } from "./collection-model.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/tasks");
const runs = randomRuns(30, 15);
const rowCount = 30;

const fields = ["id", "title", "status", "priority", "dueAt", "points", "createdAt"];

/** Orders that the declaration has an index for, in either direction, and random ones. */
const anySort: fc.Arbitrary<readonly string[]> = fc.oneof(
  fc.constantFrom(
    ["-priority", "points"],
    ["priority", "-points"],
    ["-priority", "dueAt"],
    ["priority", "-dueAt"],
    ["title", "-dueAt", "points"],
    ["-title", "dueAt", "-points"],
    ["-priority", "dueAt", "-points"],
    ["status", "-priority", "points"],
  ),
  fc
    .uniqueArray(fc.tuple(fc.constantFrom("", "-"), fc.constantFrom(...fields)), {
      minLength: 1,
      maxLength: 3,
      selector: ([, name]) => name,
    })
    .map((keys) => keys.map((key) => key.join(""))),
);

const anyFilter: fc.Arbitrary<readonly Filter[]> = fc.constantFrom<readonly Filter[]>(
  [],
  [{ field: "status", operator: "in", values: ["open"] }],
  [{ field: "status", operator: "in", values: ["open", "done"] }],
  [{ field: "priority", operator: "gte", values: [2] }],
  [
    { field: "status", operator: "in", values: ["done"] },
    { field: "points", operator: "lt", values: [3] },
  ],
);

const anyQuery: fc.Arbitrary<ListQuery> = fc.record({
  sort: anySort,
  filters: anyFilter,
  q: fc.constantFrom("", "", "", "a", "task b"),
  searched: fc.constant(["title"]),
});

function queryString({ sort, filters, q }: ListQuery): string {
  const parameters = new URLSearchParams({ sort: sort.join() });
  for (const { field, operator, values } of filters)
    for (const value of values)
      parameters.append(operator === "in" ? field : `${field}[${operator}]`, String(value));
  if (q !== "") parameters.set("q", q);
  return parameters.toString();
}

/** `PRIORITY_DESC` */
function enumValue(key: string): string {
  const name = key.replace(/^-/, "");
  const words = name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  return `${words}_${key === name ? "ASC" : "DESC"}`;
}

onEachDatabase("sorts by several fields", (database) => {
  let rows: readonly Row[];
  const server = serve(database, {
    cwd,
    prepare: async (at) => {
      // Few different values, so that most rows equal others in some of the fields.
      const bodies = Array.from({ length: rowCount }, (_, index) => ({
        title: `task ${["a", "b", "bc"][(index * 7) % 3]}`,
        status: index % 5 < 3 ? "open" : "done",
        priority: [null, 1, 2, 3][(index * 3) % 4],
        dueAt: [null, "2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"][(index >> 1) % 3],
        points: (index * 5) % 4,
      }));
      rows = await Promise.all(bodies.map((body) => at.create("/tasks", body)));
    },
  });
  const get = async (query: string): Promise<{ data: Row[]; pagination: Record<string, unknown> }> => {
    const answer = await server.request(`/tasks?${query}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const ids = (list: readonly Row[]): string[] => list.map(({ id }) => id);

  test("the rows after and before every cursor are those of a plain list", async () => {
    const property = fc.asyncProperty(
      anyQuery,
      fc.integer({ min: 1, max: 8 }),
      fc.boolean(),
      async (query, limit, isWhole) => {
        const expected = ids(listed(rows, query));
        // Without the sorted fields in the response, positions are read in a column of their own.
        const text = `${queryString(query)}${isWhole ? "" : "&fields=id"}`;
        const walk = async (isBackward: boolean): Promise<string[]> => {
          const cursors: string[] = [];
          const found: string[] = [];
          for (let cursor = ""; ; ) {
            const direction = isBackward ? "&direction=backward" : "";
            const { data, pagination } = await get(`${text}&limit=${limit}${direction}${cursor}`);
            found.splice(isBackward ? 0 : found.length, 0, ...ids(data));
            for (const name of ["prevCursor", "nextCursor"])
              if (pagination[name]) cursors.push(String(pagination[name]));
            if (!pagination.hasMore) break;
            cursor = `&cursor=${pagination[isBackward ? "prevCursor" : "nextCursor"]}`;
          }
          assert.deepEqual(found, expected);
          return cursors;
        };
        const cursors = new Set([...(await walk(false)), ...(await walk(true))]);
        for (const cursor of cursors) {
          const [before, after] = await Promise.all([
            get(`${text}&limit=100&direction=backward&cursor=${cursor}`),
            get(`${text}&limit=100&cursor=${cursor}`),
          ]);
          // The row of the cursor is on neither side.
          const at = before.data.length;
          assert.deepEqual([...ids(before.data), expected[at], ...ids(after.data)], expected);
        }
      },
    );
    await fc.assert(property, { numRuns: runs });
  });

  test("GraphQL has the same order and the same cursors", async () => {
    for (const sort of [["-priority", "dueAt"], ["title", "-dueAt", "points"], ["points"]]) {
      const { page } = await dataOf(
        server,
        `{ page: tasksConnection(first: 100, sorts: [${sort.map(enumValue)}]) { edges { cursor node { id } } } }`,
      );
      const { edges } = page as { edges: { cursor: string; node: { id: string } }[] };
      const expected = ids(listed(rows, { sort, filters: [], q: "", searched: [] }));
      assert.deepEqual(
        edges.map(({ node }) => node.id),
        expected,
      );
      for (const [index, { cursor }] of edges.entries()) {
        const { data } = await get(`sort=${sort}&limit=100&fields=id&cursor=${cursor}`);
        assert.deepEqual(ids(data), expected.slice(index + 1));
      }
    }
  });

  test("a single value and a variable are accepted as a list of sorts", async () => {
    const query = "query ($sorts: [TaskSort!]) { page: tasksConnection(sorts: $sorts) { edges { cursor } } }";
    const cursorOf = async (variables: object): Promise<unknown> =>
      (await requestGraphql(server, query, { variables })).body.data.page.edges[0].cursor;
    const { page } = await dataOf(server, "{ page: tasksConnection(sort: POINTS_ASC) { edges { cursor } } }");
    assert.equal(await cursorOf({ sorts: "POINTS_ASC" }), page.edges[0].cursor);
    const { page: newest } = await dataOf(server, "{ page: tasksConnection { edges { cursor } } }");
    for (const sorts of [[], null]) assert.equal(await cursorOf({ sorts }), newest.edges[0].cursor);
  });

  test("fields after the id, and an id that follows anyway, change nothing", async () => {
    for (const [longer, shorter] of [
      ["points,id", "points"],
      ["-points,-id", "-points"],
      ["-id,points,title", "-id"],
    ]) {
      const [one, other] = await Promise.all([get(`sort=${longer}&limit=3`), get(`sort=${shorter}&limit=3`)]);
      assert.deepEqual(one, other);
    }
    const { data } = await get("sort=points,-id&limit=100");
    assert.deepEqual(
      ids(data),
      ids(listed(rows, { sort: ["points", "-id"], filters: [], q: "", searched: [] })),
    );
  });

  test("a cursor is refused with another order of the same fields", async () => {
    const { pagination } = await get("sort=-priority,dueAt&limit=2");
    for (const sort of ["-priority", "priority,dueAt", "-priority,-dueAt", "dueAt,-priority", "dueAt"]) {
      const { status, body } = await server.request(
        `/tasks?sort=${sort}&limit=2&cursor=${pagination.nextCursor}`,
      );
      assert.deepEqual([status, body.error.code], [400, "invalid_cursor"], sort);
    }
  });

  for (const [fact, sort, sorts, issue] of [
    ["four fields", "title,points,-dueAt,status", "TITLE_ASC, POINTS_ASC, DUE_AT_DESC, STATUS_ASC", "max"],
    ["a repeated field", "title,-title", "TITLE_ASC, TITLE_DESC", "duplicate"],
    ["the id twice", "id,-id", "ID_ASC, ID_DESC", "duplicate"],
    ["an unknown field", "title,nope", undefined, "choice"],
    ["an empty field", "title,,points", undefined, "choice"],
    ["two minus signs", "title,--points", undefined, "choice"],
    ["a space", "title, points", undefined, "choice"],
  ] as const) {
    test(`a sort by ${fact} is refused`, async () => {
      const { status, body } = await server.request(`/tasks?sort=${encodeURIComponent(sort)}`);
      assert.deepEqual([status, body.error.details], [422, [{ field: "sort", issue }]]);
      if (sorts === undefined) return;
      const answer = await requestGraphql(
        server,
        `{ page: tasksConnection(sorts: [${sorts}]) { edges { cursor } } }`,
      );
      expectError(answer, {
        code: "validation_error",
        path: ["page"],
        details: [{ field: "sorts", issue }],
      });
    });
  }

  test("sort and sorts exclude each other", async () => {
    const answer = await requestGraphql(
      server,
      "{ page: tasksConnection(sort: TITLE_ASC, sorts: [POINTS_ASC]) { edges { cursor } } }",
    );
    expectError(answer, {
      code: "validation_error",
      path: ["page"],
      details: [{ field: "sorts", issue: "duplicate" }],
    });
  });
});

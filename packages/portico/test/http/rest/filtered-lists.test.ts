// Filters by the elements of lists, compared with a plain model: every page in both directions, after creates, changes and
// deletions, of top-level and nested collections.

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { app, choice, date, integer, list, range, resource, text } from "../../../src/index.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const shelves = resource("shelf", { plural: "shelves", fields: { name: text({ max: 50 }) } });
const fields = {
  tags: list(text({ max: 20 }), { max: 5, default: [] }),
  sizes: list(integer(), { max: 5, optional: true }),
  days: list(date({ min: "2000-01-01" }), { max: 3, default: [] }),
  kind: choice(["saw", "axe"], { default: "saw" }),
};
const filter = ["tags", "sizes", "days", "kind", range("createdAt")] as const;
const tools = resource("tool", { fields, filter });
const boxes = resource("box", { parent: shelves, fields, filter });
const workshop = app({ name: "Workshop", resources: [shelves, tools, boxes] });

interface Row {
  readonly id: string;
  readonly tags: readonly string[];
  readonly sizes: readonly number[] | null;
  readonly days: readonly string[];
  readonly kind: string;
}

const words = ["a", "b", "A", "a b", "1", "", "é", "\u{1f680}", '"', "null"];
const days = ["2000-01-01", "2024-02-29", "9999-12-31"];
const values = fc.record({
  tags: fc.array(fc.constantFrom(...words), { maxLength: 4 }),
  sizes: fc.option(fc.array(fc.constantFrom(0, 1, -1, 2 ** 53 - 1), { maxLength: 3 })),
  days: fc.array(fc.constantFrom(...days), { maxLength: 2 }),
  kind: fc.constantFrom("saw", "axe"),
});

/** A query, and whether a row meets it. */
interface Filtered {
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly meets: (row: Row) => boolean;
}
const several = fc.uniqueArray(fc.constantFrom(...words), { minLength: 1, maxLength: 3 });
const filtered: fc.Arbitrary<Filtered> = fc.oneof(
  several.map(
    (some): Filtered => ({
      query: some.map((value) => ["tags", value]),
      meets: ({ tags }) => tags.some((tag) => some.includes(tag)),
    }),
  ),
  several.map(
    (some): Filtered => ({
      query: some.map((value) => ["tags[ne]", value]),
      meets: ({ tags }) => !tags.some((tag) => some.includes(tag)),
    }),
  ),
  several.map(
    (some): Filtered => ({
      query: [["tags[in]", some.join(",")]],
      meets: ({ tags }) => tags.some((tag) => some.includes(tag)),
    }),
  ),
  fc.boolean().map(
    (isNull): Filtered => ({
      query: [["sizes[isNull]", String(isNull)]],
      meets: ({ sizes }) => ((sizes ?? []).length === 0) === isNull,
    }),
  ),
  fc.constantFrom(...days).map(
    (day): Filtered => ({
      query: [["days", day]],
      meets: (row) => row.days.includes(day),
    }),
  ),
  fc.constantFrom(0, 1, 2 ** 53 - 1).map(
    (size): Filtered => ({
      query: [["sizes", String(size)]],
      meets: ({ sizes }) => sizes?.includes(size) === true,
    }),
  ),
  fc.constantFrom("saw", "axe").map(
    (kind): Filtered => ({
      query: [["kind", kind]],
      meets: (row) => row.kind === kind,
    }),
  ),
);

onEachDatabase("filters by lists", (database) => {
  let collections: readonly string[];
  const rows = new Map<string, Row[]>();
  const server = serve(database, {
    app: workshop,
    prepare: async (at) => {
      const shelf = await at.create("/shelves", { name: "One" });
      const other = await at.create("/shelves", { name: "Two" });
      collections = ["/tools", `/shelves/${shelf.id}/boxes`, `/shelves/${other.id}/boxes`];
      for (const path of collections) {
        const created: Row[] = [];
        for (const body of fc.sample(values, 40)) created.push(await at.create(path, body));
        for (const [index, body] of fc.sample(values, 8).entries())
          created[index] = await write(at, path, created[index]!, body);
        for (const { id } of created.splice(10, 4)) await at.request(itemOf(path, id), { method: "DELETE" });
        rows.set(path, created.toReversed());
      }
    },
  });
  const itemOf = (path: string, id: string): string => `/${path.split("/").at(-1)}/${id}`;
  const write = async (at: typeof server, path: string, { id }: Row, body: object): Promise<Row> => {
    const answer = await at.request(itemOf(path, id), { method: "PATCH", body });
    equal(answer.status, 200, answer.text);
    return answer.body;
  };

  test("every page has the rows that the model has, in both directions", async () => {
    const plan = fc.tuple(
      fc.nat(2),
      fc.array(filtered, { minLength: 1, maxLength: 2 }),
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom("-createdAt", "createdAt"),
    );
    await fc.assert(
      fc.asyncProperty(plan, async ([at, filters, limit, sort]) => {
        const names = filters.map(({ query }) => query[0]![0]);
        fc.pre(new Set(names).size === names.length);
        const path = collections[at]!;
        const met = rows.get(path)!.filter((row) => filters.every(({ meets }) => meets(row)));
        const expected = (sort === "createdAt" ? met.toReversed() : met).map(({ id }) => id);
        const query = new URLSearchParams([
          ...filters.flatMap((each) => each.query.map(([name, value]) => [name, value])),
          ["limit", String(limit)],
          ["sort", sort],
        ]);
        for (const direction of ["forward", "backward"]) {
          const found: string[] = [];
          let cursor = "";
          do {
            const more = `&direction=${direction}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
            const { status, body, text: answer } = await server.request(`${path}?${query}${more}`);
            equal(status, 200, answer);
            const page = body.data.map((row: Row) => row.id);
            if (direction === "forward") found.push(...page);
            else found.unshift(...page);
            cursor = direction === "forward" ? body.pagination.nextCursor : body.pagination.prevCursor;
            if (!body.pagination.hasMore) cursor = "";
          } while (cursor);
          deepEqual(found, expected, `${path}?${query} ${direction}`);
        }
      }),
      { numRuns: randomRuns(100, 40) },
    );
  });

  test("GraphQL filters by elements, and null means that there are none", async () => {
    const { id } = await server.create("/tools", { tags: ["x", "y"], sizes: null });
    const { id: other } = await server.create("/tools", { tags: ["y", "y"], sizes: [7] });
    const idsOf = async (filter: string): Promise<string[]> => {
      const query = `{ toolsConnection(filter: { ${filter} }) { edges { node { id } } } }`;
      const { body } = await server.request("/graphql", { body: { query } });
      equal(body.errors, undefined, JSON.stringify(body));
      return body.data.toolsConnection.edges.map(({ node }: { node: { id: string } }) => node.id);
    };
    deepEqual(await idsOf('tags: "x"'), [id]);
    deepEqual(await idsOf('tags: ["x", "y"]'), [other, id]);
    deepEqual(await idsOf('tags: "y", tagsNe: "x"'), [other]);
    deepEqual(await idsOf('tags: "y", sizes: null'), [id]);
    deepEqual(await idsOf('NOT: { tagsNe: "y" }, sizesIsNull: false'), [other]);
  });

  for (const [query, issue] of [
    ["sizes=x", "type"],
    ["sizes[gte]=1", "unknown"],
    ["tags[contains]=x", "unknown"],
    ["sort=tags", "choice"],
    ["tags=%00", "format"],
  ] as const)
    test(`${query} is refused`, async () => {
      const [field = ""] = query.split("=");
      expectAnswer(await server.request(`/tools?${query}`), { status: 422, details: [{ field, issue }] });
    });
});

// Compares pages with a plain list in memory, for random rows, filters, sorts, searches, page sizes and directions.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { searchWords } from "../../../src/query/search-terms.ts";
import { randomRuns } from "../../support/random-runs.ts";
import {
  type Answer,
  makeWorkspace,
  onEachDatabase,
  Portico,
  projectFolder,
  type Workspace,
} from "../../support/server.ts";
import {
  adjacentPage,
  type Filter,
  type ListQuery,
  listed,
  type Operator,
  type Row,
  type Value,
} from "./collection-model.ts";

/** Random collections for each kind of page; each of them is followed 20 or 30 times. */
const collections = randomRuns(12, 8, "PORTICO_TEST_COLLECTIONS");
const fixture = `${projectFolder}/packages/portico/test/fixtures/library`;

/** The declarations of the fixture, as far as a caller sees them. */
interface Collection {
  readonly filters: Readonly<Record<string, "equality" | "range">>;
  readonly sorts: readonly string[];
  readonly searched: readonly string[];
}

const books: Collection = {
  filters: {
    genre: "equality",
    isLent: "equality",
    title: "equality",
    subtitle: "range",
    pages: "range",
    price: "range",
    publishedAt: "range",
    cost: "range",
    boughtOn: "range",
    wear: "range",
    level: "range",
  },
  sorts: [
    "createdAt",
    "updatedAt",
    "title",
    "subtitle",
    "pages",
    "price",
    "isLent",
    "publishedAt",
    "genre",
    "mac",
    "cost",
    "boughtOn",
    "wear",
    "level",
  ],
  searched: ["title", "subtitle"],
};
const copies: Collection = {
  filters: { genre: "equality", subtitle: "range", pages: "range", cost: "range" },
  sorts: ["createdAt", "subtitle", "publishedAt", "price", "cost", "wear", "level"],
  searched: ["title"],
};
const loans: Collection = {
  filters: { genre: "equality", isLent: "equality", price: "range", cost: "equality" },
  sorts: ["createdAt", "subtitle", "price", "mac", "cost"],
  searched: ["subtitle"],
};

const allFields = [
  "title",
  "subtitle",
  "pages",
  "price",
  "isLent",
  "publishedAt",
  "genre",
  "mac",
  "cost",
  "boughtOn",
  "wear",
  "level",
  "createdAt",
];

/**
 * Characters on which databases and languages differ: beyond the BMP (which UTF-16 sorts before U+E000), composed
 * and combining accents, capitals, spaces, characters that JSON, SQL and `like` escape, and control characters.
 */
const characters = [..."abAB é\u0301ßΩж字\u{1F600}\u{10FFFF}\uE000\uFFFD\u2028\n\t\u0001\u007F\"'\\%_&+#=<,"];
const shortText = fc.string({ unit: fc.constantFrom(...characters), maxLength: 4 });
const anyText = fc.oneof(
  { weight: 4, arbitrary: shortText },
  {
    weight: 1,
    arbitrary: fc.string({ unit: "binary", maxLength: 12 }).map((each) => each.replaceAll("\0", "")),
  },
);
const anyNumber = fc
  .oneof(
    fc.constantFrom(0, 0.1, 0.1 + 0.2, 1 / 3, -1 / 3, 1e21, 5e-324, Number.MAX_VALUE, 2 ** 53 + 2),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  )
  // JSON has no negative zero.
  .map((value) => value + 0);
const anyInteger = fc.oneof(fc.integer({ min: -2, max: 3 }), fc.maxSafeInteger());
const anyTimestamp = fc
  .oneof(
    fc.constantFrom(0, 1, -1, 951_782_400_000, 253_402_300_799_999, -62_135_596_800_000),
    fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }),
  )
  .map((time) => new Date(time).toISOString());

/** Units of a hundredth, many of which a double cannot represent. */
const maxUnits = 10n ** 18n - 1n;
const anyDecimal = fc
  .oneof(
    fc.bigInt({ min: -200n, max: 200n }),
    fc.bigInt({ min: -maxUnits, max: maxUnits }),
    fc.constantFrom(maxUnits, maxUnits - 1n, -maxUnits, 2n ** 53n, 2n ** 53n + 1n),
  )
  .map((units) => {
    const digits = String(units < 0n ? -units : units).padStart(3, "0");
    return `${units < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
  });
const anyDate = fc.oneof(
  fc.constantFrom("0001-01-01", "9999-12-31", "2024-02-29"),
  fc
    .integer({ min: 20_000, max: 20_003 })
    .map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10)),
);

const nullable = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(values, { freq: 4 });

const book = fc.record({
  title: anyText,
  subtitle: nullable(anyText),
  pages: nullable(anyInteger),
  price: nullable(anyNumber),
  isLent: nullable(fc.boolean()),
  publishedAt: nullable(anyTimestamp),
  genre: fc.constantFrom("drama", "poetry", "prose"),
  mac: fc.integer({ min: 0, max: 2 }),
  cost: nullable(anyDecimal),
  boughtOn: nullable(anyDate),
  wear: fc.constantFrom("new", "good", "fair", "bad"),
  level: nullable(fc.constantFrom("low", "medium", "high")),
});
const bookList = fc.array(book, { maxLength: 30 });

/** A filter, before the rows are known: `picks` are indexes of rows whose values it uses. */
interface FilterPlan {
  readonly field: string;
  readonly operator: Operator;
  readonly picks: readonly number[];
}

interface Walk {
  readonly sort: readonly string[];
  readonly filters: readonly FilterPlan[];
  /** The rows whose words to search for, and how many characters of each word. */
  readonly search: readonly { readonly pick: number; readonly length: number }[];
  readonly limit: number;
  readonly fields: readonly string[] | null;
  readonly route: readonly Step[];
}

type Step = "forward" | "backward" | "to the end" | "to the beginning";

function walkOf({ filters, sorts }: Collection): fc.Arbitrary<Walk> {
  const filterPlan = fc.constantFrom(...Object.keys(filters)).chain((field) =>
    fc.record({
      field: fc.constant(field),
      operator: fc.constantFrom<Operator>(
        "in",
        ...(filters[field] === "range" ? (["gte", "gt", "lte", "lt"] as const) : []),
      ),
      picks: fc.array(fc.nat(29), { minLength: 1, maxLength: 4 }),
    }),
  );
  return fc.record({
    sort: fc
      .uniqueArray(fc.tuple(fc.constantFrom("", "-"), fc.constantFrom(...sorts)), {
        minLength: 1,
        maxLength: 3,
        selector: ([, name]) => name,
      })
      .map((keys) => keys.map((key) => key.join(""))),
    filters: fc.oneof(
      fc.constant([]),
      fc.uniqueArray(filterPlan, { maxLength: 2, selector: ({ field, operator }) => `${field} ${operator}` }),
    ),
    search: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      {
        weight: 1,
        arbitrary: fc.array(fc.record({ pick: fc.nat(29), length: fc.integer({ min: 1, max: 3 }) }), {
          maxLength: 2,
        }),
      },
    ),
    limit: fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 1, max: 7 }) },
      { weight: 1, arbitrary: fc.constant(100) },
    ),
    fields: fc.option(fc.subarray(allFields), { freq: 2 }),
    route: fc.oneof(
      fc.constant<Step[]>(["to the end"]),
      fc.constant<Step[]>(["to the beginning"]),
      fc.constant<Step[]>(["to the end", "to the beginning"]),
      fc.array(fc.constantFrom<Step>("forward", "backward"), { minLength: 1, maxLength: 12 }),
    ),
  });
}

function queryOf(walk: Walk, rows: readonly Row[], { searched }: Collection): ListQuery {
  const rowAt = (pick: number): Row | undefined => rows[pick % Math.max(rows.length, 1)];
  const filters = walk.filters.map(({ field, operator, picks }): Filter => {
    const values = picks.map((pick) => rowAt(pick)?.[field] ?? fallbackValues[field]!);
    return { field, operator, values: operator === "in" ? values : values.slice(0, 1) };
  });
  const words = walk.search.flatMap(({ pick, length }) => {
    const row = rowAt(pick);
    const word = row && searchWords(searched.map((field) => row[field] ?? "").join(" "))[0];
    return word === undefined ? [] : [[...word].slice(0, length).join("")];
  });
  return { sort: walk.sort, filters, q: words.join(" "), searched };
}

/** Filter values for rows that have none. */
const fallbackValues: Readonly<Record<string, Value>> = {
  genre: "drama",
  isLent: true,
  title: "a",
  subtitle: "a",
  pages: 0,
  price: 0,
  publishedAt: "1970-01-01T00:00:00.000Z",
  cost: "0.00",
  boughtOn: "2024-10-05",
  wear: "fair",
  level: "medium",
};

function parametersOf(query: ListQuery, { fields }: Walk): URLSearchParams {
  const parameters = new URLSearchParams({ sort: query.sort.join() });
  for (const { field, operator, values } of query.filters) {
    const name = operator === "in" ? field : `${field}[${operator}]`;
    for (const value of values) parameters.append(name, String(value));
  }
  if (query.q !== "") parameters.set("q", query.q);
  if (fields) parameters.set("fields", fields.join(",") || "id");
  return parameters;
}

/** A row as a response shows it under `fields`. */
function shown(row: Row, fields: Walk["fields"]): Record<string, Value> {
  if (!fields) return row;
  return Object.fromEntries(Object.entries(row).filter(([name]) => name === "id" || fields.includes(name)));
}

onEachDatabase("pages match a plain list", (database) => {
  let workspace: Workspace;
  let portico: Portico;
  before(async () => {
    workspace = await makeWorkspace(database);
    portico = await Portico.start(workspace, {
      cwd: fixture,
      env: { PORTICO_SECRET: "a".repeat(32) },
    });
  });
  after(async () => {
    await portico?.stop();
    await workspace?.remove();
  });

  /** Creates rows in parallel, so that some share a timestamp and their ids are not in the order of the list. */
  async function createAll(path: string, bodies: readonly object[]): Promise<Row[]> {
    const answers = await Promise.all(bodies.map((body) => portico.request(path, { body })));
    return answers.map((answer, index) => {
      assert.equal(answer.status, 201, answer.text);
      assert.deepEqual(answer.body, { ...answer.body, ...bodies[index] }, "a row holds what was sent");
      return answer.body as Row;
    });
  }

  async function empty(path: string, rows: readonly Row[]): Promise<void> {
    const answers = await Promise.all(
      rows.map(({ id }) => portico.request(`${path}/${id}`, { method: "DELETE" })),
    );
    assert.ok(answers.every(({ status }) => status === 204));
  }

  async function page(path: string, parameters: URLSearchParams): Promise<Answer> {
    const answer = await portico.request(`${path}?${parameters}`);
    assert.equal(answer.status, 200, answer.text);
    return answer;
  }

  /** Follows the pages of a collection and compares every page with the model. */
  async function follow(
    path: string,
    collection: Collection,
    rows: readonly Row[],
    walk: Walk,
  ): Promise<void> {
    const query = queryOf(walk, rows, collection);
    const list = listed(rows, query);
    let at: { row: Row; token: string } | undefined;
    const go = async (isBackward: boolean): Promise<boolean> => {
      const parameters = parametersOf(query, walk);
      parameters.set("limit", String(walk.limit));
      if (at) parameters.set("cursor", at.token);
      if (isBackward) parameters.set("direction", "backward");
      const expected = adjacentPage(list, { at: at?.row, isBackward, limit: walk.limit });
      const answer = await page(path, parameters);
      const { data, pagination } = answer.body;
      assert.deepEqual(
        data,
        expected.rows.map((row) => shown(row, walk.fields)),
      );
      assert.equal(pagination.hasMore, expected.hasMore);
      assert.equal(typeof pagination.prevCursor, data.length > 0 ? "string" : "undefined");
      const hasNext = data.length > 0 && (isBackward ? at !== undefined : expected.hasMore);
      assert.equal(typeof pagination.nextCursor, hasNext ? "string" : "object");
      const link = answer.headers.get("link") ?? "";
      assert.equal(link.includes('rel="next"'), hasNext);
      if (hasNext) assert.ok(link.includes(`cursor=${pagination.nextCursor}>; rel="next"`), link);
      // After the last page there is no cursor, so the next step starts at the last known row.
      const [row, token] = isBackward
        ? [expected.rows[0], pagination.prevCursor]
        : [expected.rows.at(-1), pagination.nextCursor];
      if (row && token) at = { row, token };
      else if (row) at = { row: expected.rows[0]!, token: pagination.prevCursor };
      return expected.hasMore;
    };
    for (const step of walk.route) {
      if (step === "forward" || step === "backward") {
        await go(step === "backward");
        continue;
      }
      while (await go(step === "to the beginning"));
    }
  }

  test("the pages of a collection match the model", async () => {
    const property = fc.asyncProperty(
      bookList,
      fc.array(walkOf(books), { minLength: 30, maxLength: 30 }),
      async (bodies, walks) => {
        const rows = await createAll("/books", bodies);
        try {
          for (const walk of walks) await follow("/books", books, rows, walk);
        } finally {
          await empty("/books", rows);
        }
      },
    );
    await fc.assert(property, { numRuns: collections });
  });

  test("the pages of a nested collection match the model, with rows under another parent present", async () => {
    const property = fc.asyncProperty(
      bookList,
      bookList,
      fc.array(walkOf(copies), { minLength: 20, maxLength: 20 }),
      async (bodies, others, walks) => {
        const [shelf, other] = await createAll("/shelves", [{ name: "one" }, { name: "other" }]);
        const path = `/shelves/${shelf!.id}/copies`;
        const [rows] = await Promise.all([
          createAll(path, bodies),
          createAll(`/shelves/${other!.id}/copies`, others),
        ]);
        for (const walk of walks) await follow(path, copies, rows, walk);
      },
    );
    await fc.assert(property, { numRuns: collections });
  });

  test("numbered pages match the model", async () => {
    const property = fc.asyncProperty(
      bookList,
      fc.array(walkOf(loans), { minLength: 20, maxLength: 20 }),
      async (bodies, walks) => {
        const rows = await createAll("/loans", bodies);
        try {
          for (const walk of walks) await followNumberedPages(rows, walk);
        } finally {
          await empty("/loans", rows);
        }
      },
    );
    await fc.assert(property, { numRuns: collections });
  });

  /** Every numbered page, and the one after the last. */
  async function followNumberedPages(rows: readonly Row[], walk: Walk): Promise<void> {
    const query = queryOf(walk, rows, loans);
    const list = listed(rows, query);
    const last = Math.ceil(list.length / walk.limit);
    for (let number = 1; number <= last + 1; number++) {
      const parameters = parametersOf(query, walk);
      parameters.set("page", String(number));
      parameters.set("perPage", String(walk.limit));
      const { body } = await page("/loans", parameters);
      const expected = list.slice((number - 1) * walk.limit, number * walk.limit);
      assert.deepEqual(
        body.data,
        expected.map((row) => shown(row, walk.fields)),
      );
      assert.deepEqual(body.pagination, { nextCursor: null, hasMore: number < last, total: list.length });
    }
  }
});

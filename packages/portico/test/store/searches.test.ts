// Every way to find the rows of a search returns the page that a plain model returns, or reports that it is incomplete.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { app } from "../../src/declare/app.ts";
import { choice, integer, text } from "../../src/declare/field.ts";
import { resource } from "../../src/declare/resource.ts";
import { newId } from "../../src/lib/id.ts";
import { buildModel } from "../../src/model/build-model.ts";
import type { Condition } from "../../src/query/condition.ts";
import type { StoredPage } from "../../src/query/page.ts";
import type { Read, Sort } from "../../src/query/read.ts";
import { searchWords } from "../../src/query/search-terms.ts";
import { wholeRow } from "../../src/query/selection.ts";
import { boundedList, readBounded } from "../../src/store/bounded-read.ts";
import type { SearchTerms } from "../../src/store/compile/input.ts";
import type { ListColumns } from "../../src/store/compile/list.ts";
import { walkedConditions } from "../../src/store/compile/page-index.ts";
import { rowLimit } from "../../src/store/compile/row-limit.ts";
import { completeness, type SearchAccess } from "../../src/store/compile/search-access.ts";
import { openStore } from "../../src/store/open.ts";
import { isWholePage, pageOf } from "../../src/store/page.ts";
import { migrate } from "../../src/store/schema/migrate.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";
import { isByCreation } from "../../src/store/search/bounded-search.ts";
import type { Store } from "../../src/store/store.ts";
import { randomRuns } from "../support/random-runs.ts";
import { makeWorkspace, onEachDatabase } from "../support/server.ts";
import { insertTenant } from "../support/tenants.ts";

const notes = resource("note", {
  fields: {
    title: text({ max: 100 }),
    body: text({ max: 1_000 }),
    status: choice(["draft", "published", "archived"]),
    rank: integer({ optional: true }),
  },
  search: ["title", "body"],
  filter: ["status", "title"],
  sort: ["createdAt", "title", "rank"],
});
const model = buildModel(app({ name: "Notes", resources: [notes] }), []);
const note = model.resource.get("note")!;
const attribute = (name: string) => note.attribute.get(name)!;

interface Note {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly status: string;
  readonly rank: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

const tenants = [newId("tenant"), newId("tenant"), newId("tenant")];
const rowsOfTenant = 150;

/** A number below `bound` that looks random. */
function drawn(bound: number, row: number, salt: number): number {
  return Math.abs(Math.imul(row * 31 + salt * 1009 + 7, 2654435761) >> 8) % bound;
}

/** Words of different frequency; `half` and `other` are never in one row, and neither are `medium` and `middling`. */
function bodyOf(row: number): string {
  const words = [row % 2 === 0 ? "half" : "other halfway"];
  if (row % 10 === 0) words.push("medium");
  if (row % 10 === 1) words.push("middling");
  if (row % 50 === 3) words.push("rare");
  if (row % 3 === 0) words.push("Crème, 東京");
  return `${words.join(" ")} w${drawn(40, row, 1)} w${drawn(40, row, 2)}`;
}

/** The seconds at which rows are created, in the order in which they are inserted. Several are created at once. */
const creations: Readonly<Record<string, (row: number, tenant: number) => number>> = {
  "in any order": (row, tenant) => drawn(60, row, 3 + tenant),
  "in order": (row) => Math.floor(row / 3),
  "nearly in order": (row, tenant) => Math.floor(row / 3) + drawn(3, row, 3 + tenant),
};

function notesOf(tenant: number, seconds: (row: number, tenant: number) => number): Note[] {
  return Array.from({ length: rowsOfTenant }, (_, row) => {
    const createdAt = new Date(Date.UTC(2026, 0, 1) + seconds(row, tenant) * 1000).toISOString();
    return {
      id: newId("note"),
      title: `title${drawn(12, row, 4)}`,
      body: bodyOf(row + tenant),
      status: ["draft", "published", "archived"][drawn(3, row, 5)]!,
      rank: drawn(4, row, 6) === 0 ? null : drawn(5, row, 7),
      createdAt,
      updatedAt: createdAt,
    };
  });
}

interface Case {
  readonly tenant: number;
  readonly words: readonly string[];
  readonly conditions: readonly Condition[];
  /** Names with their directions. */
  readonly keys: readonly (readonly ["createdAt" | "title" | "rank", boolean])[];
  readonly style: "cursor" | "first";
  readonly limit: number;
  readonly from: number | undefined;
  readonly isBackward: boolean;
}

const word = fc.oneof(
  fc.constantFrom("half", "halfw", "other", "medium", "middling", "rare", "none", "creme", "東", "w", "w1"),
  fc.constantFrom("title1", "t", "m", "h", "o"),
);

const condition = fc.constantFrom<readonly Condition[]>(
  [],
  [],
  [{ attribute: attribute("status"), operator: "in", values: ["draft"] }],
  [{ attribute: attribute("status"), operator: "in", values: ["draft", "archived"] }],
  [{ attribute: attribute("title"), operator: "in", values: ["title1"] }],
  [{ attribute: attribute("rank"), operator: "gte", values: [2] }],
  [{ attribute: attribute("title"), operator: "startsWith", values: ["title1"] }],
  [
    { attribute: attribute("status"), operator: "in", values: ["published"] },
    { attribute: attribute("rank"), operator: "in", values: [null] },
  ],
);

const cases: fc.Arbitrary<Case> = fc.record({
  tenant: fc.nat(tenants.length - 1),
  words: fc.uniqueArray(word, { minLength: 1, maxLength: 3 }),
  conditions: condition,
  keys: fc.uniqueArray(fc.tuple(fc.constantFrom("createdAt", "title", "rank"), fc.boolean()), {
    minLength: 1,
    maxLength: 3,
    selector: ([name]) => name,
  }),
  style: fc.constantFrom("cursor", "cursor", "first"),
  limit: fc.integer({ min: 1, max: 7 }),
  from: fc.option(fc.nat(rowsOfTenant - 1), { nil: undefined }),
  isBackward: fc.boolean(),
});

function readOf(rows: readonly Note[], { words, conditions, keys, ...page }: Case): Read {
  const { style, limit, isBackward, from } = page;
  const row = from === undefined ? undefined : rows[from]!;
  const position = row && { values: keys.map(([name]) => row[name]), id: row.id };
  const sort = keys.map(([name, isDescending]) => ({ attribute: attribute(name), isDescending }));
  return {
    resource: note,
    selection: wholeRow(note),
    conditions,
    words,
    // There is at least one key.
    sort: sort as unknown as Sort,
    page: style === "first" ? { style, limit } : { style, limit, position, isBackward },
  };
}

/** With disorder, a reading in the order of creation cannot know that its page is complete. */
const newestOfManyMatches: Case = {
  ...{ tenant: 0, words: ["half"], conditions: [], keys: [["createdAt", true]], limit: 7 },
  ...{ style: "first", from: undefined, isBackward: false },
};

type Key = string | number | null;

function compareKeys(one: Key, other: Key): number {
  if (one === other) return 0;
  if (one === null || other === null) return one === null ? -1 : 1;
  return one < other ? -1 : 1;
}

/** The ids of the page, and whether there are more rows. */
function expected(rows: readonly Note[], read: Read): { ids: string[]; hasMore: boolean } {
  const { sort, page, words, conditions } = read;
  const keysOf = (row: Note): Key[] => [
    ...sort.map(({ attribute }) => row[attribute.name as "createdAt" | "title" | "rank"]),
    row.id,
  ];
  const isBackward = page.style === "cursor" && page.isBackward;
  const directions = [...sort, sort.at(-1)!].map(({ isDescending }) =>
    isDescending === isBackward ? 1 : -1,
  );
  const compare = (one: readonly Key[], other: readonly Key[]): number => {
    const orders = directions.map((direction, index) => direction * compareKeys(one[index]!, other[index]!));
    return orders.find((order) => order !== 0) ?? 0;
  };
  const position = page.style === "cursor" ? page.position : undefined;
  const start = position && [...(position.values as readonly Key[]), position.id];
  const found = rows
    .filter((row) => {
      const contained = searchWords(`${row.title} ${row.body}`);
      return words.every((each) => contained.some((one) => one.startsWith(each)));
    })
    .filter((row) => conditions.every((each) => meets(row, each)))
    .filter((row) => !start || compare(keysOf(row), start) > 0)
    .sort((one, other) => compare(keysOf(one), keysOf(other)));
  const ids = found.slice(0, page.limit).map(({ id }) => id);
  if (isBackward) ids.reverse();
  return { ids, hasMore: page.style === "cursor" && found.length > page.limit };
}

function meets(row: Note, each: Condition): boolean {
  if (!("values" in each)) throw new Error("the test has comparisons only");
  const value = row[each.attribute.name as keyof Note];
  if (each.operator === "in") return each.values.includes(value);
  if (each.operator === "gte") return value !== null && Number(value) >= Number(each.values[0]);
  return String(value).startsWith(each.values[0] as string);
}

function shown(page: StoredPage): { ids: string[]; hasMore: boolean } {
  const rows = JSON.parse(page.rows) as { id: string }[];
  return { ids: rows.map(({ id }) => id), hasMore: page.hasMore };
}

interface Way {
  readonly access: SearchAccess;
  readonly terms: SearchTerms;
  /** Whether it must return a complete page. */
  readonly isComplete: boolean;
}

/** Half of the rows have more search words than this. */
const medianBytes = 38;

/** All ways to run a search. */
function ways(store: Store, read: Read): Way[] {
  const { words } = read;
  const [first, ...rest] = words;
  const canWalk = walkedConditions(read) !== undefined;
  const walks = (canWalk ? [1, 20, rowsOfTenant + 1] : []).flatMap((limit) => [
    {
      access: { kind: "walk", maxWalked: limit, checkedWords: words.length, isQuick: true } as const,
      terms: { indexed: [], checked: words, maxEntries: 0 },
      isComplete: limit > rowsOfTenant,
    },
    ...(store.dialect.name === "sqlite" ? matchesBy("set", limit) : []),
  ]);
  const created = store.dialect.name === "sqlite" && isByCreation(read) ? matchesBy("created", 0) : [];
  const all: Way[] = [...walks, ...created, ...matchesBy("sorted", 0)];
  // A page with a row that is longer is not complete.
  const leavingOut = all.map((way) => ({
    ...way,
    access: { ...way.access, maxRowBytes: medianBytes },
    isComplete: false,
  }));
  return [...all, ...leavingOut];

  function matchesBy(kind: "set" | "sorted" | "created", maxEntries: number): Way[] {
    const isComplete = kind === "sorted" || (kind === "set" && maxEntries > rowsOfTenant);
    const access = { kind, maxWalked: 0 };
    return [
      {
        access: { ...access, checkedWords: 0, isQuick: true },
        terms: { indexed: words, checked: [], maxEntries },
        isComplete,
      },
      {
        access: { ...access, checkedWords: rest.length, isQuick: false },
        terms: { indexed: [first!], checked: rest, maxEntries },
        isComplete,
      },
    ];
  }
}

async function pageBy(store: Store, tenantId: string, read: Read, way: Way) {
  const statements = boundedList(store.dialect, read, way.access);
  const tenantNo = await store.tenants.findNumber(store.database, tenantId);
  const input = { tenantId, tenantNo, read, search: way.terms };
  const pages: { page: StoredPage; isComplete: boolean; hasOutcome: boolean }[] = [];
  const whole = (rows: readonly unknown[]): boolean => isWholePage(read, rows[0] as unknown as ListColumns);
  const toPage = (columns: ListColumns): void => {
    const [, , count, , found = count, value] = columns;
    const isFull = found >= rowLimit(read) && value !== completeness.hasLongRow;
    pages.push({
      page: pageOf(read, columns),
      isComplete: value === completeness.complete || isFull,
      hasOutcome: value !== undefined,
    });
  };
  const rows = await readBounded(statements, input, store.database, whole);
  toPage(rows[0] as unknown as ListColumns);
  // The statement for large answers has the same rows.
  const large = await store.database.query(statements.large, { ...input, maxBytes: 10_000_000 });
  const [columns] = statements.collect(read, large);
  toPage(columns as unknown as ListColumns);
  return pages;
}

/** How many pages each way found, and how many it reported as incomplete. */
class Outcomes {
  readonly #counts = new Map<string, number>();

  add(kind: string, isComplete: boolean): void {
    const key = `${kind} ${isComplete}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  count(kind: string, isComplete: boolean): number {
    return this.#counts.get(`${kind} ${isComplete}`) ?? 0;
  }
}

onEachDatabase("searches", (database) => {
  for (const [order, seconds] of Object.entries(creations))
    test(`every way returns the rows of a plain model, created ${order}`, async () => {
      const workspace = await makeWorkspace(database);
      const store = await openStore(workspace.databaseUrl);
      try {
        await migrate(store, tablesOf(model, []));
        for (const tenant of tenants) await insertTenant(store, tenant);
        const rows = tenants.map((_, tenant) => notesOf(tenant, seconds));
        await store.transaction(async (session) => {
          for (let row = 0; row < rowsOfTenant; row += 1)
            for (const [tenant, tenantId] of tenants.entries()) {
              const values = { ...rows[tenant]![row]! };
              await store.writes.insert(session, { resource: note, tenantId, values });
            }
        });
        const outcomes = new Outcomes();
        await fc.assert(
          fc.asyncProperty(cases, async (each) => {
            const own = rows[each.tenant]!;
            const read = readOf(own, each);
            const tenantId = tenants[each.tenant]!;
            const model = expected(own, read);
            assert.deepEqual(shown(await store.list(tenantId, read)), model);
            for (const way of ways(store, read)) {
              for (const { page, isComplete, hasOutcome } of await pageBy(store, tenantId, read, way)) {
                const description = JSON.stringify(way);
                if (isComplete) assert.deepEqual(shown(page), model, description);
                // The statement that returns row after row has no outcome if there is no row.
                else if (page.count > 0) assert.equal(way.isComplete, false, description);
                if (hasOutcome && !way.access.maxRowBytes) outcomes.add(way.access.kind, isComplete);
              }
            }
          }),
          { numRuns: randomRuns(160, 80), examples: [[newestOfManyMatches]] },
        );
        for (const isComplete of [true, false]) assert.ok(outcomes.count("walk", isComplete) > 40);
        assert.equal(outcomes.count("sorted", false), 0);
        if (database === "postgres") return;
        // With much disorder, hardly any page is complete.
        if (order !== "in any order") assert.ok(outcomes.count("created", true) > 20);
        // Without disorder, the rows created at once are fewer than those read in addition.
        if (order === "in order") assert.equal(outcomes.count("created", false), 0);
        else if (order === "in any order") assert.ok(outcomes.count("created", false) > 0);
      } finally {
        await store.database.close();
        await workspace.remove();
      }
    });
});

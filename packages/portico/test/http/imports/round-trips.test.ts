// What was exported can be imported again exactly, in both formats.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { users } from "../../../src/auth/users/resource.ts";
import { app } from "../../../src/declare/app.ts";
import {
  belongsTo,
  boolean,
  choice,
  id,
  integer,
  json,
  list,
  manyToMany,
  number,
  text,
  timestamp,
} from "../../../src/declare/field.ts";
import { resource } from "../../../src/declare/resource.ts";
import { ImportServer } from "../../support/imports.ts";
import { makeWorkspace, onEachDatabase, Portico } from "../../support/server.ts";

const optional = { optional: true } as const;
const parts = resource("part", { fields: { name: text({ max: 20 }) } });
const things = resource("thing", {
  fields: {
    words: text({ max: 100 }),
    note: text({ max: 100, optional: true }),
    sign: choice(["+", "-1", "'=", "plain"], optional),
    whole: integer(),
    real: number(optional),
    flag: boolean(optional),
    at: timestamp(optional),
    extra: json(optional),
    tags: list(text({ max: 100 })),
    counts: list(integer(), optional),
    other: id(optional),
    owner: belongsTo(() => users, { default: "caller" }),
    by: belongsTo(() => users, optional),
    parts: manyToMany(() => parts),
  },
});
const thingsApp = app({ name: "Things", resources: [things, parts] });

const characters = [
  "a",
  "=",
  "+",
  "-",
  "@",
  "'",
  '"',
  ",",
  "\r",
  "\n",
  "\t",
  " ",
  "0",
  "{",
  "é",
  "\ufeff",
  "😀",
];
const words = fc.string({ unit: fc.constantFrom(...characters), maxLength: 8 });
const maybe = <Value>(values: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> => fc.option(values);
const real = fc.double({ noDefaultInfinity: true, noNaN: true });
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(words, fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(words, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const thing = fc.record({
  words,
  note: maybe(words),
  sign: maybe(fc.constantFrom("+", "-1", "'=", "plain")),
  whole: fc.maxSafeInteger(),
  real: maybe(real),
  flag: maybe(fc.boolean()),
  at: maybe(
    fc
      .date({ min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true })
      .map((date) => date.toISOString()),
  ),
  extra: maybe(value!),
  tags: fc.array(words, { maxLength: 3 }),
  counts: maybe(fc.array(fc.maxSafeInteger(), { maxLength: 3 })),
  /** Indexes, in place of which the ids are sent. */
  partIds: fc.subarray([0, 1, 2]),
  other: maybe(fc.stringMatching(/^[=+@'a-z0-9-]{1,9}$/)),
});

onEachDatabase("exports that are imported", (database) => {
  const server = new ImportServer();
  const partIds: string[] = [];
  before(async () => {
    server.workspace = await makeWorkspace(database);
    server.portico = await Portico.startApp(server.workspace, thingsApp);
    for (const name of ["one", "two", "three"]) {
      const { body } = await server.portico.request("/parts", { body: { name } });
      partIds.push(body.id);
    }
  });
  after(async () => {
    await server.portico?.stop();
    await server.workspace?.remove();
  });

  test("rows of every kind of field are as they were, and in their order", async () => {
    const one = fc.array(thing, { minLength: 60, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(one, async (planned) => {
        const rows = planned.map((row) => ({ ...row, partIds: row.partIds.map((index) => partIds[index]) }));
        const sent = await server.send("things", rows);
        assert.equal(sent.body.created, 60, sent.text);
        const exported = (await server.exported("things")).slice(-60);
        assert.deepEqual(
          exported.map(({ extra, tags, partIds: ids, words: kept }) => ({ extra, tags, ids, words: kept })),
          rows.map(({ extra, tags, partIds: ids, words: kept }) => ({ extra, tags, ids, words: kept })),
        );
        for (const [format, type] of [
          ["ndjson", "application/x-ndjson"],
          ["csv", "text/csv"],
        ]) {
          const path = `things?format=${format}&after=${(await server.exported("things")).at(-61)?.id ?? ""}`;
          const text = await server.exportedText(path.replace(/&after=$/, ""));
          const imported = await server.send("things?readOnly=ignore", text, { type: type! });
          assert.deepEqual([imported.body.created, imported.body.failed], [60, 0], imported.text);
          assert.deepEqual((await server.exported("things")).slice(-60).map(kept), exported.map(kept));
        }
      }),
      { numRuns: 3, endOnFailure: true },
    );
  });
});

/** What an import keeps of a row. */
function kept({
  id: _id,
  createdAt: _createdAt,
  updatedAt: _updatedAt,
  ...row
}: object & Record<string, unknown>) {
  return row;
}

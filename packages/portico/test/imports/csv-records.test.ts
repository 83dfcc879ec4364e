// CSV as it arrives, in parts of any size (RFC 4180).

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type CsvRecord, CsvRecords, CsvSyntaxError } from "../../src/imports/csv-records.ts";

const bounds = { maxCells: 50, maxCharacters: 1_000 };

function recordsOf(parts: readonly string[]): CsvRecord[] {
  const records = new CsvRecords(bounds);
  const complete = parts.flatMap((part) => [...records.push(part)]);
  const last = records.end();
  return last ? [...complete, last] : complete;
}

const cell = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", ",", '"', "\r", "\n", " ", "é", "'") }),
  fc.constant(undefined),
);

/** The simplest writer: it quotes all values. An empty cell alone would be an empty line. */
const written = (cells: readonly (string | undefined)[], lineEnd: string): string =>
  cells.map((each) => (each === undefined ? "" : `"${each.replaceAll('"', '""')}"`)).join(",") + lineEnd;

test("cells are as they were written, however the text is divided", () => {
  const table = fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { maxLength: 5 });
  fc.assert(
    fc.property(
      table,
      fc.constantFrom("\n", "\r\n"),
      fc.boolean(),
      fc.array(fc.nat(200)),
      (rows, lineEnd, isEnded, cuts) => {
        const complete = rows.map((cells) => written(cells, lineEnd)).join("");
        const endsWithCell = rows.at(-1)?.at(-1) !== undefined;
        const text = isEnded || !endsWithCell ? complete : complete.slice(0, -lineEnd.length);
        const at = [0, ...cuts.filter((cut) => cut < text.length), text.length].sort((a, b) => a - b);
        const parts = at.slice(1).map((end, index) => text.slice(at[index], end));
        const records = recordsOf(parts);
        assert.deepEqual(
          records.map(({ cells }) => cells),
          rows,
        );
        let line = 1;
        for (const [index, cells] of rows.entries()) {
          assert.equal(records[index]!.line, line);
          line += written(cells, lineEnd).split("\n").length - 1;
        }
      },
    ),
  );
});

test("values that are not quoted have any characters but commas and line breaks", () => {
  const [first, second] = recordsOf([' a "b" ,c\r', "d\r\n", "é,"]);
  assert.deepEqual(first!.cells, [' a "b" ', "c\rd"]);
  assert.deepEqual(second!.cells, ["é", undefined]);
});

for (const [text, message] of [
  ['"a', /has no end/],
  ['a\n"b""', /has no end/],
  ['"a"b', /there must be a comma or a line break/],
  ['"a"\rb', /there must be a comma or a line break/],
  ['"a" ,', /there must be a comma or a line break/],
] as const) {
  test(`${JSON.stringify(text)} cannot be read`, () => {
    const isExpected = (error: unknown): boolean =>
      error instanceof CsvSyntaxError && message.test(error.message);
    assert.throws(() => recordsOf([text]), isExpected);
    assert.throws(() => recordsOf([...text]), isExpected);
  });
}

test("a record that is too long is reported at its end, and those after it are read", () => {
  const [long, next] = recordsOf([..."x".repeat(2_000), "\nnext"]);
  assert.equal(long!.isTooLong, true);
  assert.deepEqual([next!.cells, next!.isTooLong, next!.line], [["next"], false, 2]);
});

test("only as many cells are kept as a table can have columns", () => {
  const [record] = recordsOf([",".repeat(500)]);
  assert.deepEqual([record!.cells.length, record!.count], [50, 501]);
});

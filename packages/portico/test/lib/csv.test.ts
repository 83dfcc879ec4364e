// CSV, as exports write it and imports read it.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { csvHeader, csvLines, withoutFormulaMark } from "../../src/lib/csv.ts";

const column = (name: string, isJson = false) => ({ path: name.split("."), isJson });
const columns = [column("id"), column("author.name"), column("tags", true)];
const line = (row: object, escapesFormulas = true): string =>
  csvLines([JSON.stringify(row)], { columns, escapesFormulas });

test("the first line names the columns, and lines end with CR LF", () => {
  assert.equal(csvHeader({ columns }), "id,author.name,tags\r\n");
  assert.equal(line({ id: "a", author: { name: "Ann" }, tags: ["x", "y"] }), 'a,Ann,"[""x"",""y""]"\r\n');
});

test("no value is an empty cell, and an empty text is quoted", () => {
  assert.equal(line({ id: "", author: null, tags: null }), '"",,\r\n');
  assert.equal(line({ id: -1.5, author: { name: true }, tags: [] }), "-1.5,true,[]\r\n");
});

test("what a spreadsheet would take for a formula begins with an apostrophe, unless formulas are kept", () => {
  const signs = [..."=+-@\t\uff1d\uff0b\uff0d\uff20"];
  for (const text of [...signs.map((sign) => `${sign}1+x`), "'=1", "''@"]) {
    assert.equal(line({ id: text }), `'${text},,\r\n`);
    assert.equal(line({ id: text }, false), `${text},,\r\n`);
  }
  for (const lineBreak of ["\n", "\r"])
    assert.equal(line({ id: `${lineBreak}=1` }), `"'${lineBreak}=1",,\r\n`);
  for (const text of ["'", "'x", "a=b", " =1"]) assert.equal(line({ id: text }), `${text},,\r\n`);
});

/** Reads a line without quoted line breaks as RFC 4180 says. */
function cellsOf(text: string): string[] {
  const cells = text.slice(0, -2).matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g);
  return [...cells].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain!);
}

test("every text can be read again", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", '"', ",", "\n", "\r", "'", "=", "-", "\t", "é", " ", "\uff1d"),
  });
  fc.assert(
    fc.property(text, text, fc.boolean(), (id, name, escapesFormulas) => {
      const cells = cellsOf(line({ id, author: { name } }, escapesFormulas));
      const read = cells.map((cell) => (escapesFormulas ? withoutFormulaMark(cell) : cell));
      assert.deepEqual(read, [id, name, ""]);
    }),
  );
});

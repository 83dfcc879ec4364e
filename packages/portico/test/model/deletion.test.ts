// Which resources have rows that are deleted with those of another, and in which order.

import assert from "node:assert/strict";
import { test } from "node:test";
import { app } from "../../src/declare/app.ts";
import { belongsTo, text } from "../../src/declare/field.ts";
import { type Resource, resource } from "../../src/declare/resource.ts";
import { buildModel } from "../../src/model/build-model.ts";

const name = text({ max: 50 });

test("children that refer to others are deleted first, and references with a cascade are listed", () => {
  const boards = resource("board", { fields: { name } });
  const columns = resource("column", { parent: boards, fields: { name } });
  const cards = resource("card", { parent: boards, fields: { name, column: belongsTo(() => columns) } });
  const pins = resource("pin", {
    fields: { name, board: belongsTo(() => boards, { onDelete: "cascade" }), card: belongsTo(() => cards) },
  });
  const model = buildModel(app({ name: "Boards", resources: [boards, columns, cards, pins] }), []);
  const board = model.resource.get("board")!;
  assert.deepEqual(
    board.children.map((each) => each.name),
    ["card", "column"],
  );
  assert.deepEqual(
    board.dependents.map((each) => [each.resource.name, each.attribute.name]),
    [["pin", "boardId"]],
  );
  assert.deepEqual(model.resource.get("card")!.dependents, []);
});

test("a model of 40 children that all refer to each other is built at once", () => {
  const root = resource("root", { fields: { name } });
  const children: Resource[] = [];
  for (let number = 0; number < 40; number += 1) {
    const references = children.map((each) => [each.name, belongsTo(() => each, { optional: true })]);
    const fields = { name, ...Object.fromEntries(references) };
    children.push(resource(`child${number}`, { plural: `child${number}s`, parent: root, fields }));
  }
  const model = buildModel(app({ name: "Dense", resources: [root, ...children] }), []);
  assert.deepEqual(
    model.resource.get("root")!.children.map((each) => each.name),
    children.map((each) => each.name).reverse(),
  );
});

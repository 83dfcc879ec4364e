// Invalid declarations of soft deletion stop the start with one line.

import assert from "node:assert/strict";
import { test } from "node:test";
import { users } from "../../src/auth/users/resource.ts";
import { app } from "../../src/declare/app.ts";
import { belongsTo, text, timestamp } from "../../src/declare/field.ts";
import { type Resource, resource } from "../../src/declare/resource.ts";
import { OperatorError } from "../../src/errors.ts";
import { buildModel, type ModelOptions } from "../../src/model/build-model.ts";
import { tablesOf } from "../../src/store/schema/model-tables.ts";

const declare = resource as unknown as (name: string, declaration: object) => Resource;
const title = text({ max: 50 });
const at = timestamp({ optional: true, readOnly: true });
const days = ": write softDelete: true, or { purgeAfterDays: 30 } with a whole number of days from 1 to 3650";
const run = async (): Promise<{ id: string }> => ({ id: "" });
const taken =
  "rows that are deleted softly, here or with a row of another resource, have a column of this name; choose another";

const wrong: readonly (readonly [fact: string, declaration: object, line: string])[] = [
  ...["yes", 30, null, [], {}, { purgeAfterDays: 0 }, { purgeAfterDays: 1.5 }, { purgeAfterDays: "30" }]
    .concat({ purgeAfterDays: 3_651 }, { purgeAfterDays: 1, more: 1 } as never)
    .map((softDelete) => [`${JSON.stringify(softDelete)}`, { softDelete }, days] as const),
  [
    "softDelete beside markOnDelete",
    { fields: { at }, markOnDelete: "at" },
    ": markOnDelete leaves deleted rows visible, and softDelete hides them; remove one",
  ],
  [
    "softDelete without the operation",
    { operations: ["list", "get"] },
    ": its operations lack delete, so softDelete has no effect; add delete there, or remove softDelete",
  ],
  [
    "an action of the same name",
    { actions: { restorations: { input: {}, run } } },
    ": softDelete adds the action restorations; choose another name",
  ],
  [
    "a field with the name of the parameter",
    { fields: { deleted: title } },
    ": softDelete adds the query parameter deleted; choose another name for the field",
  ],
  ...["deletedAt", "deletedWith", "deletedOrder", "deletedRowNo"].map(
    (field) => [`a field ${field}`, { fields: { [field]: title } }, `, field ${field}: ${taken}`] as const,
  ),
];

/** The line that refuses an app with these resources. */
function refusal(...resources: readonly Resource[]): string {
  const options: ModelOptions = {};
  try {
    tablesOf(buildModel(app({ name: "Notes", resources }), [users], options), []);
  } catch (error) {
    assert.ok(error instanceof OperatorError, String(error));
    return error.message;
  }
  return "";
}

for (const [fact, declaration, line] of wrong)
  test(`soft deletion is refused: ${fact}`, () => {
    const notes = declare("note", { fields: { title }, softDelete: true, ...declaration });
    assert.equal(refusal(notes), `resource note${line}`);
  });

test("a resource whose rows are deleted with others softly cannot have the fields of deleted rows", () => {
  const notes = declare("note", { fields: { title }, softDelete: true });
  const comments = declare("comment", { parent: notes, fields: { deletedAt: at } });
  const marks = declare("mark", {
    fields: { comment: belongsTo(() => comments, { onDelete: "cascade" }), deletedWith: title },
  });
  assert.equal(refusal(notes, comments), `resource comment, field deletedAt: ${taken}`);
  const plain = declare("comment", { parent: notes, fields: { title } });
  const others = declare("mark", {
    fields: { comment: belongsTo(() => plain, { onDelete: "cascade" }), deletedWith: title },
  });
  assert.equal(refusal(notes, plain, others), `resource mark, field deletedWith: ${taken}`);
  assert.equal(refusal(declare("note", { fields: { title } }), comments, marks), "");
});

test("a resource cannot have the table of deleted rows", () => {
  const notes = declare("note", { fields: { title }, softDelete: true });
  const others = declare("deletedNote", { fields: { title } });
  assert.match(refusal(notes, others), /the table deleted_notes belongs to the resource/);
});

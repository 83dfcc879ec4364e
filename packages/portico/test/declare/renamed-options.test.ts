// Declarations with option names from before the first release stop the start with a line that names the new option.

import assert from "node:assert/strict";
import { test } from "node:test";
import { app } from "../../src/declare/app.ts";
import { belongsTo, text, timestamp } from "../../src/declare/field.ts";
import { type Resource, resource } from "../../src/declare/resource.ts";
import { OperatorError } from "../../src/errors.ts";
import { buildModel } from "../../src/model/build-model.ts";

/** Declares a resource without type checks, as JavaScript does. */
const declareUntyped = resource as unknown as (name: string, declaration: object) => Resource;

const title = text({ max: 100 });
const clubs = resource("club", { fields: { title } });
const options = (field: object, more: object): object => ({ ...field, options: more });

const renamed: readonly (readonly [declaration: object, line: string])[] = [
  [{ under: clubs }, ": under was renamed; write parent"],
  [{ alsoUnder: ["tenant"] }, ": alsoUnder was renamed; write nestedUnder"],
  [{ removal: { marks: "endedAt" } }, ': removal was renamed; write markOnDelete: "cancelledAt"'],
  [{ check: () => [] }, ": check was renamed; write validate"],
  [{ served: false }, ": served was renamed; write exposed"],
  [{ recorded: false }, ": recorded was renamed; write events"],
  [{ operations: ["list", "change"] }, ": change was renamed; write update"],
  [{ operations: ["list", "remove"] }, ": remove was renamed; write delete"],
  [{ hooks: { before: { change() {} } } }, ": change was renamed; write update"],
  [{ hooks: { after: { remove() {} } } }, ": remove was renamed; write delete"],
  [
    { fields: { title: options(title, { fixed: true }) } },
    ", field title: fixed was renamed; write immutable",
  ],
  [
    { fields: { title: options(title, { untagged: true }) } },
    ", field title: untagged was renamed; write excludeFromETag",
  ],
  [
    {
      fields: {
        club: options(
          belongsTo(() => clubs),
          { whenRemoved: "remove" },
        ),
      },
    },
    ', field club: whenRemoved was renamed; write onDelete: "cascade"',
  ],
  [
    {
      fields: {
        endsAt: timestamp({ optional: true }),
        status: {
          kind: "computedStatus",
          options: { readOnly: true },
          choices: [undefined, "open"],
          rules: [{ state: "ended", from: "endsAt" }],
        },
      },
    },
    ", field status: state was renamed; write status",
  ],
];

for (const [declaration, line] of renamed) {
  test(`an old name stops the start${line}`, () => {
    const pass = declareUntyped("pass", { fields: { title }, ...declaration });
    assert.throws(
      () => buildModel(app({ name: "Passes", resources: [clubs, pass] }), []),
      new OperatorError(`resource pass${line}`),
    );
  });
}

test("an old option of the app stops the start", () => {
  const description = { name: "Passes", resources: [clubs], sample: async () => {} };
  assert.throws(() => app(description), new OperatorError("app: sample was renamed; write seed"));
});

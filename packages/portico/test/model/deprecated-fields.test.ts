import { equal } from "node:assert/strict";
import { test } from "node:test";
import { app, belongsTo, type Resource, resource, text } from "../../src/index.ts";
import { buildModel } from "../../src/model/build-model.ts";
import { hasDeprecatedFields } from "../../src/model/deprecation.ts";

test("resources that all refer to each other are searched once each for deprecated fields", () => {
  const deprecated = text({ deprecated: { since: "2026-01-01T00:00:00Z" } });
  for (const name of [text(), deprecated]) {
    // There are 2 ** 38 ways from the last one to the first one.
    const resources: Resource[] = [resource("thinga", { fields: { name } })];
    for (let number = 1; number < 40; number += 1) {
      const references = resources.map((target, index) => [`link${index}`, belongsTo(() => target)]);
      const next = `thing${String.fromCharCode(97 + Math.floor(number / 26), 97 + (number % 26))}`;
      resources.push(resource(next, { fields: Object.fromEntries(references) }));
    }
    const model = buildModel(app({ name: "Dense", resources }), []);
    equal(hasDeprecatedFields(model.resources.at(-1)!), name === deprecated);
  }
});

// Declarations that are refused: tables of facts, and what all of them declare.

import assert from "node:assert/strict";
import { test } from "node:test";
import { app } from "../../src/declare/app.ts";
import { text } from "../../src/declare/field.ts";
import { type Resource, resource } from "../../src/declare/resource.ts";
import { OperatorError } from "../../src/errors.ts";
import { buildModel } from "../../src/model/build-model.ts";

/** Declares a resource without type checks, as JavaScript does. */
export const declareUntyped = resource as unknown as (name: string, declaration: object) => Resource;

export const title = text({ max: 100 });
export const elsewhere = resource("elsewhere", { fields: { title } });

/** A fact, the resources, and the line that refuses them. */
export type Wrong = readonly [fact: string, resources: readonly Resource[], line: string];

/** Declares a test for each row: the resources stop the start with this line. */
export function areRefused(wrong: readonly Wrong[]): void {
  for (const [fact, resources, line] of wrong)
    test(`${fact} is refused`, () => {
      assert.throws(
        () => buildModel(app({ name: "Wrong", resources }), []),
        (error) => {
          assert.ok(error instanceof OperatorError, String(error));
          assert.equal(error.message, line);
          return true;
        },
      );
    });
}

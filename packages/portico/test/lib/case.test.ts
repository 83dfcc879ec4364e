// Plurals, and names in paths and columns.

import assert from "node:assert/strict";
import { test } from "node:test";
import { kebabCase, plural, singular, snakeCase } from "../../src/lib/case.ts";

for (const [singular, several] of [
  ["post", "posts"],
  ["category", "categories"],
  ["day", "days"],
  ["box", "boxes"],
  ["bus", "buses"],
  ["branch", "branches"],
  ["dish", "dishes"],
  ["apiKey", "apiKeys"],
] as const) {
  test(`the plural of ${singular} is ${several}`, () => assert.equal(plural(singular), several));
}

for (const [one, several] of [
  ["post", "posts"],
  ["category", "categories"],
  ["box", "boxes"],
  ["class", "classes"],
  ["release", "releases"],
  ["apiKey", "apiKeys"],
] as const)
  test(`one of ${several} is ${one}`, () => assert.equal(singular(several), one));

test("a name in camelCase is kebab-case in paths and snake_case in tables", () => {
  assert.equal(kebabCase("oauthClientSecret"), "oauth-client-secret");
  assert.equal(snakeCase("oauthClientSecret"), "oauth_client_secret");
});

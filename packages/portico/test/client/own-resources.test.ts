// The types of the server's own resources are those that `portico types` prints.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { printResourceTypes } from "../../src/cli/printed-types.ts";
import { app } from "../../src/declare/app.ts";
import { composeApp } from "../../src/runtime/compose.ts";
import { readSettings } from "../../src/runtime/settings/settings.ts";
import gazette from "../fixtures/gazette/portico.config.ts";

const path = join(import.meta.dirname, "../../client/own-resources.ts");

test("client/own-resources.ts has the server's own resources", () => {
  const { model } = composeApp(app({ name: "Empty", resources: [] }), readSettings({}, {}));
  // An app declares the names of roles.
  const printed = printResourceTypes(model).replaceAll(/(role\??: )"owner" \| "member"/g, "$1string");
  assert.equal(withoutLayout(readFileSync(path, "utf8").split("OwnResources ")[1]!), withoutLayout(printed));
});

/** The formatter breaks lines. */
function withoutLayout(text: string): string {
  return text
    .replaceAll(/\s+/g, "")
    .replaceAll(/(?<=[:<(])\|/g, "")
    .replaceAll(/;(?=\})/g, "");
}

test("what only an older version has is not among the types", () => {
  const { model } = composeApp(gazette, readSettings({}, {}));
  const names = printResourceTypes(model).matchAll(/^ {2}readonly (\w+): \{$/gm);
  const printed = [...names].map(([, name]) => name);
  assert.ok(printed.includes("issues") && printed.includes("apiKeys"));
  assert.ok(!printed.includes("pages"));
});

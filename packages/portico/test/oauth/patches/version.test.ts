// The patches are written for one version of oidc-provider. After an upgrade, the tests of this folder show which of its
// behaviours have changed; then update the version here and in the headers of the patches.

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename } from "node:path";
import { test } from "node:test";

const require = createRequire(import.meta.url);
const root = new URL("../../../", import.meta.url);
const patches = globSync("src/oauth/provider/patches/*.ts", { cwd: root }).filter(
  // Contains only types that patches share.
  (file) => basename(file) !== "answer.ts",
);

test("the patches hold for the installed version of oidc-provider", () => {
  const { version } = require("oidc-provider/package.json") as { version: string };
  assert.match(version, /^9\.13\./);
});

test("each patch names the version it is written for", () => {
  assert.ok(patches.length > 15);
  for (const file of patches)
    assert.match(readFileSync(new URL(file, root), "utf8"), /oidc-provider 9\.13/, file);
});

// Declarations that cannot be loaded.

import { rejects } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loadApp } from "../../src/runtime/config.ts";

for (const [specifier, missing] of [
  ["./nope.ts", /nope\.ts/],
  ["no-such-package/part", /no-such-package/],
] as const)
  test(`the error of a missing import names its line and column: ${specifier}`, async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "portico-config-"));
    context.after(() => rmSync(folder, { recursive: true }));
    const lines = ["// Declarations", `import { nope } from "${specifier}";`, "export default nope;"];
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(join(folder, "portico.config.ts"), lines.join("\n"));
    await rejects(loadApp(folder), ({ message }: Error) => {
      return missing.test(message) && message.endsWith("(portico.config.ts:2:17)");
    });
  });

test("the error of a file that ends too early names its line", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "portico-config-"));
  context.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "portico.config.ts"), "export default {\n");
  await rejects(loadApp(folder), ({ message }: Error) => /\(portico\.config\.ts:\d\)$/.test(message));
});

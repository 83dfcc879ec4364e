// The documentation is held to the program: its examples are run, and nothing that it must name is missing.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { catalogue } from "../src/errors.ts";
import { blocksOf, readDocument, runDocument } from "./support/document.ts";
import { makeWorkspace, Portico, portico, projectFolder } from "./support/server.ts";

const documents = [
  "README.md",
  ...readdirSync(join(projectFolder, "docs")).flatMap((name) =>
    name.endsWith(".md") ? [`docs/${name}`] : [],
  ),
];

describe("the examples of the documentation answer as shown", { concurrency: 2 }, () => {
  for (const path of documents) {
    const markdown = readDocument(path);
    if (!blocksOf(markdown).some(({ language }) => language === "sh")) continue;
    test(path, async () => {
      assert.ok((await runDocument(markdown)) > 0);
    });
  }
});

test("every declaration shown compiles", () => {
  const folder = mkdtempSync(join(tmpdir(), "portico-docs-"));
  try {
    symlinkSync(join(projectFolder, "node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const { compilerOptions } = JSON.parse(readFileSync(join(projectFolder, "tsconfig.json"), "utf8"));
    // An example may declare what another one uses.
    const options = { ...compilerOptions, noUnusedLocals: false };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: options, include: ["*.ts"] }),
    );
    for (const path of documents) {
      for (const { language, text, line } of blocksOf(readDocument(path)))
        if (language === "ts") writeFileSync(join(folder, `${path.replaceAll(/\W/g, "-")}-${line}.ts`), text);
    }
    const compiled = spawnSync(join(projectFolder, "node_modules/.bin/tsc"), ["-p", folder], {
      encoding: "utf8",
    });
    assert.equal(compiled.status, 0, compiled.stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("README shows what the first start prints", async () => {
  const workspace = await makeWorkspace("sqlite");
  try {
    const server = await Portico.start(workspace);
    await server.stop();
    // Log lines may stand before, behind and between.
    const greeting = server.output.replaceAll(/^\{"level".*\n/gm, "").trim();
    const real = greeting.replaceAll(server.url, "http://127.0.0.1:3000").replaceAll(server.key, "KEY");
    const shown = blocksOf(readDocument("README.md")).map(({ text }) =>
      text.trim().replaceAll(/sk_test_[\w-]{43}/g, "KEY"),
    );
    assert.ok(shown.includes(real), real);
  } finally {
    await workspace.remove();
  }
});

test("every link of the documentation leads to a file", () => {
  for (const path of documents) {
    for (const [, target] of readDocument(path).matchAll(/\]\(([^)#:]+)(?:#[\w-]+)?\)/g))
      assert.ok(readDocument(join(path, "..", target!)) !== undefined, `${path}: ${target}`);
  }
});

test("every setting stands in docs/settings.md", () => {
  const source = readDocument("packages/portico/src/runtime/settings.ts");
  const settings = new Set([...source.matchAll(/value\("([A-Z_]+)"/g)].map(([, name]) => name!));
  assert.ok(settings.size >= 8);
  assertTable(
    "docs/settings.md",
    [...settings].map((name) => `| \`${name}\` |`),
  );
});

test("every command stands in docs/commands.md", async () => {
  const { stdout } = await portico({ databaseUrl: "" }, ["--help"]);
  const commands = [...stdout.matchAll(/^ {2}([a-z-]+(?: [a-z]+)?)/gm)].map(([, name]) => name!);
  assert.ok(commands.length >= 7);
  assertTable(
    "docs/commands.md",
    commands.map((name) => `## ${name}\n`),
  );
});

test("every error code stands in docs/rest.md with its status", () => {
  const rows = Object.entries(catalogue).map(([code, [status]]) => `| ${status} | \`${code}\` |`);
  assertTable("docs/rest.md", rows);
});

test("every dependency stands in docs/dependencies.md with its version", () => {
  for (const path of ["package.json", "packages/portico/package.json", "bench/rivals/package.json"]) {
    const { dependencies, devDependencies = {} } = JSON.parse(readDocument(path));
    const { portico: _own, ...all } = { ...dependencies, ...devDependencies };
    assertTable(
      "docs/dependencies.md",
      Object.entries(all).map(([name, version]) => `| \`${name}\` | ${version} |`),
    );
  }
});

function assertTable(path: string, entries: readonly string[]): void {
  const text = readDocument(path);
  assert.deepEqual(
    entries.filter((entry) => !text.includes(entry)),
    [],
    `missing in ${path}`,
  );
}

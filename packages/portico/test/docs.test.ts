// The documentation is true: its examples run, its declarations compile, and its tables are complete.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { catalogue } from "../src/errors.ts";
import { documentationRows } from "../src/runtime/settings/table.ts";
import { blocksOf, documentPaths, readDocument, runDocuments } from "./support/document.ts";
import { makeWorkspace, PorticoProcess, porticoProcess, projectFolder } from "./support/server.ts";

const documents = documentPaths().filter((path) => path === "README.md" || path.startsWith("docs/"));

/** The chapters of the tutorial build on each other, so they run in one project; every other page has its own. */
const tutorial = documents.filter((path) => path.startsWith("docs/tutorial/"));
const pages = documents.filter((path) => !tutorial.includes(path));

describe("the examples of the documentation answer as shown", { concurrency: 2 }, () => {
  for (const group of [tutorial, ...pages.map((path) => [path])]) {
    if (!group.some(hasExamples)) continue;
    test(group.length === 1 ? group[0] : "docs/tutorial", async () => {
      assert.ok((await runDocuments(group)) > 0);
    });
  }
});

function hasExamples(path: string): boolean {
  return blocksOf(readDocument(path)).some(({ language }) => language === "sh");
}

test("every declaration shown compiles", () => {
  const folder = mkdtempSync(join(tmpdir(), "portico-docs-"));
  try {
    symlinkSync(join(projectFolder, "node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const { compilerOptions } = JSON.parse(readFileSync(join(projectFolder, "tsconfig.json"), "utf8"));
    // An example may declare what only a later example uses.
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
    const server = await PorticoProcess.start(workspace);
    await server.stop();
    // Log lines can come before, after and in between.
    const greeting = server.output.replaceAll(/^\{"level".*\n/gm, "").trim();
    const actual = greeting.replaceAll(server.url, "http://127.0.0.1:3000").replaceAll(server.key, "KEY");
    const shown = blocksOf(readDocument("README.md")).map(({ text }) =>
      text.trim().replaceAll(/sk_test_[\w-]{43}/g, "KEY"),
    );
    assert.ok(shown.includes(actual), actual);
  } finally {
    await workspace.remove();
  }
});

test("docs/reference/settings.md shows the table of settings", () => {
  const shown = readDocument("docs/reference/settings.md")
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  assert.deepEqual(shown, documentationRows());
});

test("docs/reference/commands.md describes every command", async () => {
  const { stdout } = await porticoProcess({ databaseUrl: "" }, ["--help"]);
  const commands = [...stdout.matchAll(/^ {2}([a-z-]+(?: [a-z]+)?)/gm)].map(([, name]) => name!);
  assert.ok(commands.length >= 7);
  assertContains(
    "docs/reference/commands.md",
    commands.map((name) => `## ${name}\n`),
  );
});

test("docs/reference/errors.md lists every error code with its status", () => {
  const rows = Object.entries(catalogue).map(([code, [status]]) => `| ${status} | \`${code}\` |`);
  assertContains("docs/reference/errors.md", rows);
});

test("docs/reference/dependencies.md lists every dependency with its version", () => {
  for (const path of ["package.json", "packages/portico/package.json", "bench/rivals/package.json"]) {
    const { dependencies, devDependencies = {} } = JSON.parse(readDocument(path));
    const { portico: _own, ...all } = { ...dependencies, ...devDependencies };
    assertContains(
      "docs/reference/dependencies.md",
      Object.entries(all).map(([name, version]) => `| \`${name}\` | ${version} |`),
    );
  }
});

function assertContains(path: string, entries: readonly string[]): void {
  const text = readDocument(path);
  assert.deepEqual(
    entries.filter((entry) => !text.includes(entry)),
    [],
    `missing in ${path}`,
  );
}

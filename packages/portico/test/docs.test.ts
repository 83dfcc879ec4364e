// The documentation is true: its examples run, its declarations compile, and its tables are complete.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { catalogue } from "../src/errors.ts";
import { documentationRows } from "../src/runtime/settings/table.ts";
import {
  blocksOf,
  documentPaths,
  type ProjectOptions,
  readDocument,
  runDocuments,
} from "./support/document.ts";
import { whyMissing } from "./support/installed-programs.ts";
import { makeWorkspace, PorticoProcess, portico, porticoProcess, projectFolder } from "./support/server.ts";

const documents = documentPaths().filter((path) => path === "README.md" || path.startsWith("docs/"));

/**
 * The chapters of the tutorial build on each other, so they run in one project, a new one of create-portico; every other
 * page has its own.
 */
const tutorial = documents.filter((path) => path.startsWith("docs/tutorial/"));
const pages = documents.filter((path) => !tutorial.includes(path));

describe("the examples of the documentation answer as shown", {
  concurrency: 2,
  skip: whyMissing("curl"),
}, () => {
  for (const group of [tutorial, ...pages.map((path) => [path])]) {
    if (!group.some(hasExamples)) continue;
    test(group.length === 1 ? group[0] : "docs/tutorial", async () => {
      const options: ProjectOptions = group === tutorial ? { example: "blank" } : {};
      assert.ok((await runDocuments(group, options)) > 0);
    });
  }
});

function hasExamples(path: string): boolean {
  return blocksOf(readDocument(path)).some(({ language }) => language === "sh");
}

test("every declaration shown compiles", async () => {
  const folder = mkdtempSync(join(tmpdir(), "portico-docs-"));
  try {
    for (const name of ["node_modules", "service", "portico.config.ts"])
      symlinkSync(join(projectFolder, name), join(folder, name));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    // What `npx portico types` prints there.
    const { stdout } = await portico({ databaseUrl: "" }, ["types"]);
    writeFileSync(join(folder, "portico-types.d.ts"), stdout);
    const { compilerOptions } = JSON.parse(readFileSync(join(projectFolder, "tsconfig.json"), "utf8"));
    // An example may declare what only a later example uses.
    const options = { ...compilerOptions, noUnusedLocals: false };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: options, include: ["*.ts"] }),
    );
    for (const path of documents) {
      // Programs import the declarations that their page shows, or those of the sample service.
      let config = "portico.config.ts";
      for (const { language, text, line } of blocksOf(readDocument(path))) {
        if (language === "instruction" && text === "new project") config = "portico.config.ts";
        if (language !== "ts") continue;
        const file = `${path.replaceAll(/\W/g, "-")}-${line}.ts`;
        writeFileSync(join(folder, file), text.replace("./portico.config.ts", `./${config}`));
        if (text.includes("export default app(")) config = file;
      }
    }
    const tsc = join(projectFolder, "node_modules/.bin/tsc");
    // Several threads take twice the CPU time.
    const compiled = spawnSync(tsc, ["-p", folder, "--singleThreaded"], { encoding: "utf8" });
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

test("docs/reference/commands.md describes every command, in the order of the help", async () => {
  const { stdout } = await porticoProcess({ databaseUrl: "" }, ["--help"]);
  const commands = [...stdout.matchAll(/^ {2}([a-z-]+(?: [a-z-]+)?)/gm)].map(([, name]) => name!);
  const headings = [...readDocument("docs/reference/commands.md").matchAll(/^## (.+)$/gm)];
  assert.deepEqual(
    headings.map(([, name]) => name!),
    commands,
  );
});

test("docs/reference/errors.md lists every error code with its status", () => {
  const rows = Object.entries(catalogue).map(([code, [status]]) => `| ${status} | \`${code}\` |`);
  assertContains("docs/reference/errors.md", rows);
});

test("docs/dependencies.md lists every dependency with its version", () => {
  const paths = [
    ...["package.json", "packages/portico/package.json"],
    ...["tools/client-generators/package.json", "bench/rivals/package.json"],
  ];
  for (const path of paths) {
    const { dependencies, devDependencies = {} } = JSON.parse(readDocument(path));
    const { portico: _own, ...all } = { ...dependencies, ...devDependencies };
    assertContains(
      "docs/dependencies.md",
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

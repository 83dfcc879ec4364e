// Projects that create-portico writes: each is type-checked, tested and served as it is. The packages are linked from this
// repository instead of being installed; packages/portico/test/package.test.ts installs them.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { projectScripts } from "../../portico/src/cli/upgrade/package-steps.ts";
import {
  type DatabaseName,
  makeWorkspace,
  onEachDatabase,
  Portico,
  program,
  projectFolder,
  portico as runCommand,
} from "../../portico/test/support/server.ts";

const run = promisify(execFile);
const creator = join(projectFolder, "packages/create-portico/bin/create-portico.js");
const folder = mkdtempSync(join(tmpdir(), "create-portico-"));
const environment = { PATH: `${dirname(process.execPath)}:${process.env.PATH}` };

before(() => {
  // Where programs look for the packages of every project below this folder.
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(join(projectFolder, "packages/portico"), join(folder, "node_modules/portico"));
});

after(() => rmSync(folder, { recursive: true, force: true }));

/** @returns the folder of the project */
async function create(name: string, ...options: readonly string[]): Promise<string> {
  await run(creator, [name, "--no-install", "--yes", ...options], { cwd: folder, env: environment });
  return join(folder, name);
}

/** What is sent to each example: a row to create, and what a caller without a credential may do. */
const examples = {
  blank: { path: "/notes", row: { title: "Paint the door" }, publicStatus: 401 },
  blog: { path: "/posts", row: { title: "Note G" }, publicStatus: 200 },
  tracker: { path: "/projects", row: { name: "Difference Engine" }, publicStatus: 200 },
};

onEachDatabase("a new project", (database: DatabaseName) => {
  for (const [example, { path, row, publicStatus }] of Object.entries(examples))
    test(`${example} is served`, async () => {
      const project = await create(`${example}-${database}`, "--example", example, "--database", database);
      const workspace = await makeWorkspace(database);
      const server = await Portico.start(workspace, { cwd: project });
      try {
        const created = await server.request(path, { body: row });
        equal(created.status, 201, created.text);
        const page = await server.request(`/v1${path}?limit=1`);
        equal(page.body.data[0].id, created.body.id);
        equal((await server.request(path, { key: null })).status, publicStatus);
        // Redocly's recommended rules ask for it.
        const description = await server.request("/openapi.json", { key: null });
        equal(description.body.info.license.name, "All rights reserved");
      } finally {
        await server.stop();
        await workspace.remove();
      }
    });
});

describe("the files of a new project", () => {
  test("the tests of every example pass", async () => {
    const projects = await Promise.all(
      Object.keys(examples).map((example) => create(`${example}-tested`, "--example", example)),
    );
    // In one process, as most of the time is loading the server.
    const files = projects.map((project) => join(project, "test/api.test.ts"));
    const words = ["--test", "--test-isolation=none", ...files];
    const { stdout } = await run(process.execPath, words, { cwd: folder, env: environment });
    match(stdout, /pass 8\n/);
  });

  test("every example is checked with its own compiler options by the compiler of this repository", async () => {
    const project = await create("typed");
    const read = (path: string) => JSON.parse(readFileSync(join(path, "tsconfig.json"), "utf8"));
    const { compilerOptions } = read(project);
    const own = read(projectFolder);
    deepEqual({ ...own.compilerOptions, ...compilerOptions }, own.compilerOptions);
    for (const name of ["packages/create-portico/templates", "examples/tracker"])
      ok(own.include.includes(name), name);
  });

  test("commands read the settings of .env, and the environment wins", async () => {
    const project = await create("with-settings", "--database", "postgres");
    match(readFileSync(join(project, ".env"), "utf8"), /^DATABASE_URL=postgres:.+\/with_settings$/m);
    writeFileSync(join(project, ".env"), "DATABASE_URL=file:./own.db\nPORTICO_MODE=live\n");
    await run(program, ["migrate"], {
      cwd: project,
      env: { ...environment, PORTICO_SECRET: "x".repeat(32), PORTICO_MODE: "sandbox" },
    });
    ok(readFileSync(join(project, "own.db")).length > 0);
  });

  test("a clone of a project has what git keeps, and no secrets", async () => {
    const project = await create("cloned", "--database", "postgres");
    const git = (...words: readonly string[]) => run("git", words, { cwd: project, env: environment });
    for (const name of ["live.env", ".env.local"]) writeFileSync(join(project, name), "PORTICO_SECRET=x\n");
    await git("init", "--quiet");
    await git("add", ".");
    const kept = (await git("ls-files")).stdout.split("\n");
    deepEqual(
      kept.filter((name) => name.includes("env")),
      [".env.example"],
    );
    deepEqual(readFileSync(join(project, ".dockerignore"), "utf8").match(/^.*env.*$/gm), [
      "**/*.env",
      "**/.env.*",
    ]);
    // Copied to `.env`, as the README says, it names the database of compose.yaml.
    const setting = "DATABASE_URL=postgres://portico:portico@127.0.0.1:5432/cloned";
    ok(readFileSync(join(project, ".env.example"), "utf8").split("\n").includes(setting));
    const readme = readFileSync(join(project, "README.md"), "utf8");
    for (const text of ["cp -n .env.example .env", "docker compose up --detach --wait", "`compose.yaml`"])
      ok(readme.includes(text), text);
    match(readme, /set\n?\s*`PORTICO_MODE=live`, `DATABASE_URL`,/);
    const unit = readFileSync(join(project, "deploy/cloned.service"), "utf8");
    ok(!unit.includes("sqlite") && !unit.includes("file:"));
  });

  test("the scripts name commands of portico, and the packages have the versions of this repository", async () => {
    const project = await create("versions");
    const { version } = JSON.parse(
      readFileSync(join(projectFolder, "packages/portico/package.json"), "utf8"),
    );
    const { scripts, dependencies, devDependencies, portico } = JSON.parse(
      readFileSync(join(project, "package.json"), "utf8"),
    );
    // Those that `portico upgrade` misses in a project without them.
    deepEqual(scripts, projectScripts);
    const { stdout } = await runCommand({ databaseUrl: "" }, ["--help"]);
    for (const script of Object.values<string>(scripts))
      if (script.startsWith("portico "))
        match(stdout, new RegExp(`^  ${script.slice("portico ".length)} `, "m"));
    deepEqual(portico, { upgradedTo: version });
    const own = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8")).devDependencies;
    deepEqual(dependencies, { portico: `^${version}` });
    for (const [name, range] of Object.entries(devDependencies))
      equal(String(range).replace("^", ""), own[name].replace("^", ""), name);
  });
});

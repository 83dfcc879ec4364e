// `portico upgrade`: what a project must change for a version. It changes nothing itself.

import { deepEqual, equal, match } from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { projectScripts } from "../../../src/cli/upgrade/package-steps.ts";
import { compareVersions, stepsBetween, versionSteps } from "../../../src/cli/upgrade/version-steps.ts";
import { layout1Folder, withLayout1 } from "../../support/layout-1.ts";
import {
  type Environment,
  makeWorkspace,
  onEachDatabase,
  portico,
  projectFolder,
  type Workspace,
} from "../../support/server.ts";

const { version } = JSON.parse(
  readFileSync(join(projectFolder, "packages/portico/package.json"), "utf8"),
) as {
  readonly version: string;
};
const folder = mkdtempSync(join(tmpdir(), "portico-upgrade-"));
mkdirSync(join(folder, "node_modules"));
symlinkSync(join(projectFolder, "packages/portico"), join(folder, "node_modules/portico"));
after(() => rmSync(folder, { recursive: true, force: true }));

const upToDate = { type: "module", scripts: projectScripts, portico: { upgradedTo: version } };

/** A new folder, as a process loads declarations once. @param packageFile false for none */
function project(options: string, packageFile: unknown = upToDate): string {
  const path = mkdtempSync(join(folder, "project-"));
  writeFileSync(
    join(path, "portico.config.ts"),
    `import { app, resource, text } from "portico";
     export default app({ name: "Notes", resources: [resource("note", { ${options} })] });`,
  );
  if (packageFile !== false) {
    const content = typeof packageFile === "string" ? packageFile : JSON.stringify(packageFile);
    writeFileSync(join(path, "package.json"), content);
  }
  return path;
}

const title = "fields: { title: text({ max: 100 }) }";
const live: Environment = { PORTICO_MODE: "live", PORTICO_SECRET: "x".repeat(32) };

interface Step {
  readonly about: string;
  readonly problem: string;
  readonly remedy?: string;
}

async function stepsOf(
  workspace: Pick<Workspace, "databaseUrl">,
  cwd: string,
  env: Environment = {},
): Promise<readonly Step[]> {
  const { code, stdout, stderr } = await portico(workspace, ["upgrade", "--json"], { cwd, env });
  equal(code, 0, stderr);
  return JSON.parse(stdout).steps;
}

const ofDatabase = (steps: readonly Step[]) => steps.filter(({ about }) => about === "database");

onEachDatabase("portico upgrade", (database) => {
  test("names the command for a database of an earlier layout, and leaves it as it is", async () => {
    await withLayout1(database, async (workspace) => {
      const expected = [
        {
          about: "database",
          problem: "it has the layout of an earlier version",
          remedy: "make a backup, stop its servers, then run npx portico migrate --layout",
        },
      ];
      deepEqual(ofDatabase(await stepsOf(workspace, layout1Folder)), expected);
      deepEqual(ofDatabase(await stepsOf(workspace, layout1Folder)), expected);
    });
  });

  test("counts what a migration and a contraction would change", async () => {
    const workspace = await makeWorkspace(database);
    try {
      const early = project("fields: { title: text({ max: 100, optional: true }) }");
      const late = project(
        "fields: { title: text({ max: 100, fill: 'Untitled' }), body: text({ max: 9, optional: true }) }",
      );
      const migrate = async (...options: readonly string[]): Promise<void> => {
        const { code, stderr } = await portico(workspace, ["migrate", ...options], { cwd: late, env: live });
        equal(code, 0, stderr);
      };
      await portico(workspace, ["migrate"], { cwd: early, env: live });
      deepEqual(await stepsOf(workspace, early, live), []);
      const [pending] = await stepsOf(workspace, late, live);
      match(pending!.problem, /^[1-9]\d* pending schema changes?$/);
      equal(pending!.remedy, "npx portico migrate");
      deepEqual(await stepsOf(workspace, late, live), [pending]);
      await migrate();
      const [contraction] = await stepsOf(workspace, late, live);
      equal(contraction!.remedy, "npx portico migrate --contract");
      await migrate("--contract");
      deepEqual(await stepsOf(workspace, late, live), []);
    } finally {
      await workspace.remove();
    }
  });
});

test("nothing is asked of a project that is up to date, and no database is created", async () => {
  const cwd = project(title);
  const { stdout } = await portico({ databaseUrl: `file:${join(cwd, "none.db")}` }, ["upgrade"], { cwd });
  equal(stdout, `What a project of ${version} must change for Portico ${version}:\n\nNothing.\n`);
  deepEqual(readdirSync(cwd).sort(), ["package.json", "portico.config.ts"]);
});

test("the first fault of declarations or settings is shown with its remedy", async () => {
  const nowhere = { databaseUrl: "file:/nonexistent/none.db" };
  const renamed = await stepsOf(nowhere, project(`under: undefined, ${title}`));
  equal(renamed[0]!.about, "declarations");
  match(renamed[0]!.problem, /under was renamed; write parent/);
  const [missing] = await stepsOf(nowhere, project(title), { PORTICO_MODE: "live" });
  equal(missing!.about, "settings");
  match(missing!.problem, /PORTICO_SECRET is missing/);
  const unreachable = { databaseUrl: "postgres://portico@127.0.0.1:1/none" };
  const [refused] = await stepsOf(unreachable, project(title));
  equal(refused!.about, "database");
});

test("a package.json of another project lacks a type, scripts and the steps of each version", async () => {
  const nowhere = { databaseUrl: "file:/nonexistent/none.db" };
  const { dev: _dev, ...scripts } = projectScripts;
  const steps = await stepsOf(nowhere, project(title, { scripts }));
  deepEqual(
    steps.slice(0, 2).map(({ remedy }) => remedy),
    ["npm pkg set type=module", "npm pkg set scripts.dev='portico dev'"],
  );
  deepEqual(steps.slice(2), stepsBetween(undefined, version));
  const [none] = await stepsOf(nowhere, project(title, false));
  deepEqual(none, { about: "package.json", problem: "there is none", remedy: "npm init --yes" });
  for (const [content, message] of [
    ["{", /package\.json cannot be read/],
    [{ portico: { upgradedTo: "next" } }, /must be a version, such as 0\.1\.0/],
    [{ portico: { upgradedTo: "9.0.0" } }, /was upgraded to 9\.0\.0.*npm install portico@\^9\.0\.0/],
  ] as const) {
    const { code, stderr } = await portico(nowhere, ["upgrade"], { cwd: project(title, content) });
    equal(code, 1);
    match(stderr, message);
  }
});

test("the steps of versions are those after the project's version, in order", () => {
  const versions = versionSteps.map((each) => each.version);
  deepEqual(versions.toSorted(compareVersions), versions);
  equal(compareVersions("0.10.0", "0.9.9") > 0, true);
  equal(compareVersions("0.2.0-beta.1", "0.2.0"), 0);
  equal(
    versions.every((each) => compareVersions(each, version) <= 0),
    true,
  );
  deepEqual(stepsBetween(version, version), []);
  deepEqual(stepsBetween(undefined, "0.0.1"), []);
});

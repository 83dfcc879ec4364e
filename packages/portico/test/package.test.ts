// The package as others install it: the tarball and the packages that it depends on, in a folder outside the repository.
// The packages are copied from this repository's node_modules, so that nothing is downloaded.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { blocksOf } from "./support/document.ts";
import { makeWorkspace, PorticoProcess, projectFolder, type Workspace } from "./support/server.ts";

let workspace: Workspace;
let folder: string;
let server: PorticoProcess;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "portico-installed-"));
  install(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "my-api", type: "module" }));
  const readme = readFileSync(join(folder, "node_modules/portico/README.md"), "utf8");
  const declaration = blocksOf(readme).find(({ language }) => language === "ts")!.text;
  writeFileSync(join(folder, "portico.config.ts"), declaration);
  workspace = await makeWorkspace("sqlite");
  const file = join(folder, "node_modules/portico/bin/portico.js");
  server = await PorticoProcess.start(workspace, { cwd: folder, file });
});

after(async () => {
  await server?.stop();
  await workspace?.remove();
  rmSync(folder, { recursive: true, force: true });
});

test("the installed package holds JavaScript, declarations and what npm shows, and no TypeScript sources", () => {
  const files = execFileSync("find", [join(folder, "node_modules/portico"), "-type", "f"], {
    encoding: "utf8",
  })
    .trim()
    .split("\n")
    .map((path) => path.slice(join(folder, "node_modules/portico/").length));
  for (const name of [
    "LICENSE",
    "README.md",
    "CHANGELOG.md",
    "bin/portico.js",
    "src/index.js",
    "src/index.d.ts",
  ])
    ok(files.includes(name), name);
  for (const name of files) ok(/^[A-Z]|^package\.json$|^bin\/|\.(js|js\.map|d\.ts)$/.test(name), name);
});

test("the resources of the package's README are served, over REST and GraphQL", async () => {
  const made = await server.request("/tasks", { body: { title: "Paint the door" } });
  equal(made.status, 201, made.text);
  // A search is read in a thread, whose program is another file.
  const found = await server.request("/tasks?q=door");
  equal(found.body.data[0].id, made.body.id);
  const query = "{ tasks { title state } }";
  const answer = await server.request("/graphql", { body: { query } });
  deepEqual(answer.body, { data: { tasks: [{ title: "Paint the door", state: "open" }] } });
});

test("GraphiQL's files are served, which a process of its own compresses", async () => {
  const page = await fetch(`${server.url}/graphql`, { headers: { accept: "text/html" } });
  const script = /src="([^"]+)"/.exec(await page.text())![1]!;
  const file = await fetch(server.url + script, { headers: { "accept-encoding": "br" } });
  equal(file.status, 200);
  equal(file.headers.get("content-encoding"), "br");
  await file.arrayBuffer();
});

test("the declarations of the package check what a project writes", () => {
  const tsc = join(projectFolder, "node_modules/typescript/bin/tsc");
  const check = (file: string): string => {
    const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "esnext", "--types", "node"];
    try {
      const roots = ["--typeRoots", join(projectFolder, "node_modules/@types")];
      return execFileSync(process.execPath, [tsc, ...options, ...roots, file], {
        cwd: folder,
        encoding: "utf8",
      });
    } catch (error) {
      return (error as { stdout: string }).stdout;
    }
  };
  equal(check("portico.config.ts"), "");
  writeFileSync(join(folder, "wrong.ts"), 'import { text } from "portico";\ntext({ max: "10" });\n');
  match(check("wrong.ts"), /wrong\.ts\(2,8\): error TS2322/);
});

/** Unpacks the tarball, and copies the packages that it needs to where npm would put them. */
function install(into: string): void {
  const printed = execFileSync(process.execPath, [join(projectFolder, "packages/portico/pack.ts")], {
    encoding: "utf8",
  });
  const tarball = printed.trim().split("\n").at(-1)!;
  const modules = join(into, "node_modules");
  mkdirSync(join(modules, "portico"), { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "-C", join(modules, "portico"), "--strip-components=1"]);
  for (const path of neededPaths()) {
    mkdirSync(dirname(join(into, path)), { recursive: true });
    // Packages inside of a package are in the list themselves.
    cpSync(join(projectFolder, path), join(into, path), {
      recursive: true,
      filter: (source) => !source.slice(join(projectFolder, path).length).includes("/node_modules"),
    });
  }
}

/** Folders of the packages that `portico` needs, as the lock file has them. */
function neededPaths(): ReadonlySet<string> {
  const locked: Readonly<Record<string, { readonly dependencies?: object } | undefined>> = JSON.parse(
    readFileSync(join(projectFolder, "package-lock.json"), "utf8"),
  ).packages;
  const paths = new Set<string>();
  const addDependencies = (of: string): void => {
    for (const name of Object.keys(locked[of]?.dependencies ?? {})) {
      const path = foldersAbove(of)
        .map((above) => `${above}node_modules/${name}`)
        .find((candidate) => locked[candidate]);
      if (path === undefined) throw new Error(`${name} is not in the lock file`);
      if (paths.has(path)) continue;
      paths.add(path);
      addDependencies(path);
    }
  };
  addDependencies("packages/portico");
  return paths;
}

/** Where Node looks for a package that another one needs, nearest first: `["node_modules/a/", ""]`. */
function foldersAbove(path: string): string[] {
  const parts = path.split("/node_modules/");
  return [...parts.map((_, index) => `${parts.slice(0, parts.length - index).join("/node_modules/")}/`), ""];
}

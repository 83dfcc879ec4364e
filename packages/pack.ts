// Makes the tarballs that npm publishes, and prints their paths. They hold JavaScript with declarations, because Node
// strips no types below node_modules. What a package holds besides its compiled sources is in its own pack.ts.
//
//   npm run pack
//   npm run pack -- portico

import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The `package.json` of a package of this repository. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly files: readonly string[];
  readonly exports?: Readonly<Record<string, string>>;
  readonly devDependencies?: object;
  readonly scripts?: object;
}

/** What the pack.ts of a package exports: `complete` adds to its folder what the compiler does not write. */
interface PackModule {
  complete(built: string): void | Promise<void>;
}

const project = resolve(import.meta.dirname, "..");
const typescript = fileURLToPath(import.meta.resolve("typescript/package.json"));
const npm = process.env.npm_execpath;

const names = process.argv.length > 2 ? process.argv.slice(2) : ["portico", "create-portico"];
const manifests = names.map(manifestOf);
const versions = new Set(manifests.map(({ version }) => version));
if (versions.size > 1) throw new Error(`The packages have different versions: ${[...versions].join(", ")}`);
for (const manifest of manifests) process.stdout.write(`${await pack(manifest)}\n`);

function manifestOf(name: string): Manifest {
  return JSON.parse(readFileSync(join(project, "packages", name, "package.json"), "utf8"));
}

/** @returns the path of the tarball */
async function pack(manifest: Manifest): Promise<string> {
  const source = join(project, "packages", manifest.name);
  const built = join(project, "build", manifest.name);
  rmSync(built, { recursive: true, force: true });
  mkdirSync(built, { recursive: true });
  run(built, process.execPath, [
    join(dirname(typescript), "bin/tsc"),
    ...["-p", join(source, "tsconfig.build.json"), "--outDir", built, "--singleThreaded"],
  ]);
  for (const folder of ["bin", "src"])
    cpSync(join(source, folder), join(built, folder), { recursive: true, filter: isCopied });
  renamePrograms(built);
  copyFileSync(join(project, "LICENSE"), join(built, "LICENSE"));
  copyFileSync(join(source, "README.md"), join(built, "README.md"));
  writeFileSync(join(built, "package.json"), `${JSON.stringify(published(manifest), null, 2)}\n`);
  if (existsSync(join(source, "pack.ts"))) {
    const { complete }: PackModule = await import(join(source, "pack.ts"));
    await complete(built);
  }
  const options = ["pack", "--json", "--pack-destination", join(project, "build")];
  const packed =
    npm === undefined ? run(built, "npm", options) : run(built, process.execPath, [npm, ...options]);
  const [{ filename }] = JSON.parse(packed);
  return join(project, "build", filename);
}

/** What the compiler does not write: programs in JavaScript, and the files of pages. */
function isCopied(path: string): boolean {
  return !path.endsWith(".ts") && !path.endsWith("/tsconfig.json");
}

/** The compiler renames what is imported. Programs of threads, processes and commands are named by a text. */
function renamePrograms(built: string): void {
  for (const name of globSync(["src/**/*.js", "bin/*.js"], { cwd: built })) {
    const path = join(built, name);
    const text = readFileSync(path, "utf8");
    const renamed = text
      .replaceAll(/(?<=new URL\("\.[^"]+)\.ts(?=", import\.meta\.url\))/g, ".js")
      .replaceAll(/(?<=\bawait import\("\.[^"]+)\.ts(?="\))/g, ".js");
    if (renamed !== text) writeFileSync(path, renamed);
  }
}

/** The manifest as it is published: what it exports is compiled, and what only this repository needs is left out. */
function published({
  private: _private,
  devDependencies: _own,
  scripts: _scripts,
  ...manifest
}: Manifest): object {
  const exports = Object.entries(manifest.exports ?? {}).map(([path, target]) => {
    if (!target.endsWith(".ts")) return [path, target];
    const stem = target.slice(0, -".ts".length);
    return [path, { types: `${stem}.d.ts`, default: `${stem}.js` }];
  });
  return { ...manifest, ...(exports.length > 0 && { exports: Object.fromEntries(exports) }) };
}

/** Runs a program. @returns what it prints */
function run(folder: string, file: string, words: readonly string[]): string {
  return execFileSync(file, words, { cwd: folder, encoding: "utf8" });
}

// Makes the tarball that npm publishes: JavaScript with declarations and source maps, because Node strips no types below
// node_modules. Prints the path of the tarball.
//
//   npm run pack

import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import packageJson from "./package.json" with { type: "json" };

const source = import.meta.dirname;
const project = resolve(source, "../..");
const built = join(project, "build/portico");

const typescript = fileURLToPath(import.meta.resolve("typescript/package.json"));
const npm = process.env.npm_execpath;

rmSync(built, { recursive: true, force: true });
mkdirSync(built, { recursive: true });
run(process.execPath, [join(dirname(typescript), "bin/tsc"), "-p", join(source, "tsconfig.build.json")]);
// Programs of threads and processes are named by a URL, which the compiler leaves alone.
for (const name of globSync("src/**/*.js", { cwd: built })) {
  const path = join(built, name);
  const text = readFileSync(path, "utf8");
  const renamed = text.replaceAll(/(?<=new URL\("\.[^"]+)\.ts(?=", import\.meta\.url\))/g, ".js");
  if (renamed !== text) writeFileSync(path, renamed);
}
cpSync(join(source, "bin"), join(built, "bin"), { recursive: true });
rewrite("bin/portico.js", (text) => text.replace("../src/cli/portico.ts", "../src/cli/portico.js"));
for (const name of ["LICENSE", "CHANGELOG.md"]) copyFileSync(join(project, name), join(built, name));
copyFileSync(join(source, "README.md"), join(built, "README.md"));
const { private: _private, ...published } = packageJson;
const manifest = {
  ...published,
  exports: { ".": { types: "./src/index.d.ts", default: "./src/index.js" } },
  files: ["bin", "src", "CHANGELOG.md"],
};
writeFileSync(join(built, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
const options = ["pack", "--json", "--pack-destination", join(project, "build")];
const packed = npm === undefined ? run("npm", options) : run(process.execPath, [npm, ...options]);
const [{ filename }] = JSON.parse(packed);
process.stdout.write(`${join(project, "build", filename)}\n`);

/** Runs a program in the folder of the built package. @returns what it prints */
function run(file: string, words: readonly string[]): string {
  return execFileSync(file, words, { cwd: built, encoding: "utf8" });
}

function rewrite(name: string, change: (text: string) => string): void {
  const path = join(built, name);
  const before = readFileSync(path, "utf8");
  const after = change(before);
  if (after === before) throw new Error(`${name} is not as the build expects it`);
  writeFileSync(path, after);
}

// Links of the documentation lead somewhere, and the paths that it names exist.

import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { blocksOf, documentPaths, readDocument } from "./support/document.ts";
import { projectFolder } from "./support/server.ts";

const source = "packages/portico/src";

test("every relative link leads to a file, and to a heading where it has an anchor", () => {
  const broken = documentPaths().flatMap((path) =>
    linksOf(readDocument(path)).flatMap((link) => {
      const [target = "", anchor] = link.split("#");
      const file = target === "" ? path : join(path, "..", target);
      if (!existsSync(join(projectFolder, file))) return [`${path}: ${link}`];
      return anchor === undefined || anchorsOf(readDocument(file)).includes(anchor)
        ? []
        : [`${path}: ${link}`];
    }),
  );
  assert.deepEqual(broken, []);
});

test("every page of docs/ is linked from docs/README.md", () => {
  const linked = linksOf(readDocument("docs/README.md")).map((link) => join("docs", link.split("#")[0]!));
  const pages = documentPaths().filter((path) => path.startsWith("docs/") && path !== "docs/README.md");
  assert.deepEqual(
    pages.filter((path) => !linked.includes(path)),
    [],
  );
});

/** Targets of the links that do not lead to another host. */
function linksOf(markdown: string): string[] {
  const links = [...prose(markdown).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
  return links.filter((target) => !/^[a-z]+:/.test(target));
}

/** Anchors of the headings, as GitHub derives them. */
function anchorsOf(markdown: string): string[] {
  const anchors: string[] = [];
  for (const [, heading] of prose(markdown).matchAll(/^#+ (.+)$/gm)) {
    const text = heading!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const anchor = text.replaceAll(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-");
    const earlier = anchors.filter((each) => each.replace(/-\d+$/, "") === anchor).length;
    anchors.push(earlier === 0 ? anchor : `${anchor}-${earlier}`);
  }
  return anchors;
}

/** A document without its code blocks. */
function prose(markdown: string): string {
  return markdown.replaceAll(/^```.*?^```$/gms, "");
}

test("the tree of the README names paths that exist, and every folder of the source", () => {
  const tree = blocksOf(readDocument("README.md")).find(({ text }) => text.includes(`${source}/\n`));
  assert.ok(tree, `README.md has no tree that names ${source}/`);
  const paths = pathsOf(tree.text);
  assert.deepEqual(
    paths.filter((path) => !existsSync(join(projectFolder, path))),
    [],
  );
  const folders = readdirSync(join(projectFolder, source), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${source}/${name}/`);
  assert.deepEqual(
    folders.filter((folder) => !paths.includes(folder)),
    [],
  );
});

/** The path of each line of a tree, in which two spaces more mean one level deeper. */
function pathsOf(tree: string): string[] {
  const parents: string[] = [];
  return tree
    .trimEnd()
    .split("\n")
    .map((line) => {
      const [, indent, name] = /^( *)(\S+)/.exec(line)!;
      const depth = indent!.length / 2;
      parents.length = depth;
      const path = parents.join("") + name;
      parents.push(name!);
      return path;
    });
}

const architecture = readDocument("ARCHITECTURE.md");

test("ARCHITECTURE.md names files and folders that exist", () => {
  const named = [...architecture.matchAll(/`([\w.-]+(?:\/[\w.-]+)*(?:\.c?[jt]s|\/))`/g)].map(
    ([, path]) => path!,
  );
  assert.ok(named.length > 50);
  const exists = (path: string): boolean =>
    existsSync(join(projectFolder, source, path)) || existsSync(join(projectFolder, path));
  assert.deepEqual(
    named.filter((path) => !exists(path)),
    [],
  );
});

test("ARCHITECTURE.md lists the folders in the order of their imports", async () => {
  const listed = [...architecture.matchAll(/^\| `([a-z-]+)\/` \|/gm)].map(([, folder]) => folder);
  const { default: rules } = await import(join(projectFolder, ".dependency-cruiser.cjs"));
  const { forbidden }: { forbidden: { name: string }[] } = rules;
  const layers = forbidden.flatMap(({ name }) => /^one-way-(.+)$/.exec(name)?.[1] ?? []);
  assert.deepEqual(
    listed,
    layers.filter((layer) => existsSync(join(projectFolder, source, layer))),
  );
});

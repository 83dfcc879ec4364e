// What the command line and the answers on a terminal mean, and folders that cannot be used.

import { deepEqual, equal, match, ok, rejects, throws } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { after, describe, test } from "node:test";
import fc from "fast-check";
import { projectFolder } from "../../portico/test/support/server.ts";
import { parseArguments } from "../src/arguments.ts";
import { CreationError } from "../src/creation-error.ts";
import { projectName } from "../src/project-name.ts";
import { askChoices, choicesOf } from "../src/questions.ts";
import { projectFiles } from "../src/templates.ts";
import { writeProject } from "../src/write-project.ts";

const creator = join(projectFolder, "packages/create-portico/bin/create-portico.js");
const folder = mkdtempSync(join(tmpdir(), "create-portico-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const isExpected = (message: RegExp) => (error: unknown) =>
  error instanceof CreationError && message.test(error.message) && !error.message.includes("\n");

describe("the name of a project", () => {
  test("is the last part of the path", () => {
    deepEqual(projectName("apps/my-api", "/home/ada"), { folder: "/home/ada/apps/my-api", name: "my-api" });
    deepEqual(projectName(".", "/home/my-api"), { folder: "/home/my-api", name: "my-api" });
    throws(() => projectName("My API!", "/"), isExpected(/"My API!".*such as my-api$/));
    throws(() => projectName("node_modules", "/"), isExpected(/such as node-modules$/));
    throws(() => projectName("portico", "/"), isExpected(/such as my-portico$/));
  });

  test("is one that npm accepts, whatever is typed", () => {
    const parts = fc.constantFrom(
      "..",
      "/",
      "-",
      ".",
      " ",
      "\0",
      "\n",
      "é",
      "A",
      "~",
      "$(id)",
      "{{name}}",
      "b",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(parts).map((each) => each.join("")),
        ),
        (typed) => {
          try {
            match(projectName(typed, "/home/ada").name, /^[a-z0-9][a-z0-9._-]{0,99}$/);
          } catch (error) {
            ok(error instanceof CreationError && !error.message.includes("\n"), String(error));
          }
        },
      ),
    );
  });
});

describe("the command line", () => {
  test("has defaults for all but the folder", () => {
    const choices = choicesOf(parseArguments(["new-api"]), folder);
    deepEqual(choices, {
      folder: join(folder, "new-api"),
      name: "new-api",
      example: "blank",
      database: "sqlite",
    });
    throws(() => choicesOf(parseArguments(["--yes"]), folder), isExpected(/^name the folder/));
  });

  test("is refused with the values that are possible", () => {
    for (const [words, message] of [
      [["--example", "shop"], /must be one of blank, blog, tracker/],
      [["--example", "toString"], /must be one of blank, blog, tracker/],
      [["--database", "mysql"], /must be one of sqlite, postgres/],
      [["a", "b"], /unexpected argument 'b'/],
      [["--exmple", "blog"], /Unknown option '--exmple'; see create-portico --help/],
      [["--example"], /argument missing; see create-portico --help/],
    ] as const)
      throws(() => parseArguments(words), isExpected(message));
  });
});

describe("answers on a terminal", () => {
  /** Answers each question in turn, and then ends the input. */
  async function ask(words: readonly string[], answers: readonly string[]) {
    const input = new PassThrough();
    const output = new PassThrough({ encoding: "utf8" });
    let shown = "";
    const left = [...answers];
    output.on("data", (text: string) => {
      shown += text;
      // Every question ends so.
      if (!text.endsWith("): ")) return;
      const answer = left.shift();
      if (answer === undefined) input.end();
      else input.write(`${answer}\n`);
    });
    const choices = await askChoices(parseArguments(words), folder, { input, output });
    return { choices, shown };
  }

  test("choose by name or number, and nothing for the default", async () => {
    const { choices } = await ask([], ["", "2", "postgres"]);
    deepEqual(choices, {
      folder: join(folder, "my-api"),
      name: "my-api",
      example: "blog",
      database: "postgres",
    });
    const { choices: standard, shown } = await ask(["other"], ["", ""]);
    deepEqual([standard.example, standard.database], ["blank", "sqlite"]);
    ok(!shown.includes("Folder"));
  });

  test("are asked for again if they cannot be used", async () => {
    const { choices, shown } = await ask(
      ["--database", "sqlite"],
      ["My API", "my-api", "4", "constructor", "tracker"],
    );
    equal(choices.example, "tracker");
    match(shown, /such as my-api/);
    equal(shown.split("Answer with one of").length, 3);
  });

  test("that end early create nothing", async () => {
    await rejects(ask([], ["new"]), isExpected(/^nothing was created$/));
  });
});

test("every file of a project is complete, whatever its name and the choices", () => {
  const name = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,20}$/);
  const options = fc.record({
    name,
    example: fc.constantFrom(...(["blank", "blog", "tracker"] as const)),
    database: fc.constantFrom(...(["sqlite", "postgres"] as const)),
  });
  fc.assert(
    fc.property(options, (chosen) => {
      const files = projectFiles(chosen);
      equal(JSON.parse(files["package.json"]!).name, chosen.name);
      ok(
        files[`deploy/${chosen.name}.service`]!.includes(
          `/opt/${chosen.name}/node_modules/.bin/portico serve\n`,
        ),
      );
      equal(".env" in files, chosen.database === "postgres");
      deepEqual(
        Object.entries(files).filter(([path, text]) => /[{}]{2}|^_/.test(path) || /\{\{|\}\}/.test(text)),
        [],
      );
    }),
    { numRuns: 30 },
  );
});

test("a project whose packages cannot be installed is kept, and the message says how to go on", () => {
  // Of this Node, which has no npm.
  const env = { PATH: dirname(process.execPath) };
  const words = [creator, "without-npm", "--yes"];
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: folder, env, encoding: "utf8" });
  equal(status, 1);
  match(
    stderr,
    /without-npm, but its packages could not be installed \(.*ENOENT\); run npm install there\n$/,
  );
  ok(existsSync(join(folder, "without-npm/package.json")));
});

describe("a folder that cannot be used", () => {
  const files = projectFiles({ name: "my-api", example: "blank", database: "sqlite" });

  test("is refused with what is in it, and left as it is", () => {
    const used = join(folder, "used");
    mkdirSync(used);
    for (const name of ["a", "b", "c", "d", "e", "f", ".git"]) writeFileSync(join(used, name), "");
    throws(
      () => writeProject(used, files),
      isExpected(/contains a, b, c, d, e and 1 more; choose another folder$/),
    );
    equal(readdirSync(used).length, 7);
    throws(() => writeProject(join(used, "a"), files), isExpected(/used\/a is a file/));
    throws(() => writeProject(join(used, "a/api"), files), isExpected(/ENOTDIR.*nothing was created$/));
  });

  test("may contain .git", () => {
    const cloned = join(folder, "cloned");
    mkdirSync(join(cloned, ".git"), { recursive: true });
    writeProject(cloned, files);
    ok(existsSync(join(cloned, "portico.config.ts")));
  });

  test("leaves nothing behind when the disk is full", () => {
    const words = [process.execPath, creator, "deep/full/api", "--yes", "--no-install"];
    // No file can become larger than 512 or 1,024 bytes, depending on the shell.
    const { status, stderr } = spawnSync("sh", ["-c", 'ulimit -f 1; exec "$@"', "sh", ...words], {
      cwd: folder,
      encoding: "utf8",
    });
    equal(status, 1);
    match(stderr, /^create-portico: the project cannot be written: EFBIG.*; nothing was created\n$/);
    ok(!existsSync(join(folder, "deep")));
  });
});

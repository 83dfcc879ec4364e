// `portico migrate --plan` prints a plan for review, and `--apply` applies that plan and no other.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import fc from "fast-check";
import { openStore } from "../../../src/store/open.ts";
import {
  type CommandResult,
  makeWorkspace,
  onEachDatabase,
  portico,
  type Workspace,
} from "../../support/server.ts";

const [smaller, larger] = ["version-1", "version-2"].map((name) =>
  resolve(import.meta.dirname, "../../fixtures", name),
) as [string, string];

onEachDatabase("plans of migrations", (database) => {
  let workspace: Workspace;
  const migrate = (cwd: string, ...words: string[]): Promise<CommandResult> =>
    portico(workspace, ["migrate", ...words], { cwd });
  const write = (content: unknown): string => {
    const file = join(workspace.folder, "plan.json");
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
    return file;
  };
  const plan = async (cwd: string, ...words: string[]) => {
    const { code, stdout, stderr } = await migrate(cwd, "--plan", ...words);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const isUpToDate = async (cwd: string): Promise<boolean> =>
    JSON.parse((await migrate(cwd, "--json")).stdout).statements.length === 0;

  beforeEach(async () => {
    workspace = await makeWorkspace(database);
    assert.equal((await migrate(smaller)).code, 0);
  });
  afterEach(() => workspace?.remove());

  test("a plan lists the statements in their order, and is applied as it is", async () => {
    const made = await plan(larger);
    const { stdout } = await migrate(larger, "--dry-run", "--json");
    const withoutTimes = (text: string) => text.replaceAll(/'\d{4}-[^']*Z'/g, "now");
    assert.deepEqual(
      made.steps.map(({ sql }: { sql: string }) => withoutTimes(sql)),
      JSON.parse(stdout).statements.map(withoutTimes),
    );
    assert.equal(
      made.steps.some(({ losesData }: { losesData: boolean }) => losesData),
      false,
    );
    assert.ok(made.indexes.length > 0);
    assert.deepEqual((await plan(larger)).fingerprints, made.fingerprints);
    const { code, stderr } = await migrate(larger, "--apply", write(made));
    assert.equal(code, 0, stderr);
    assert.equal(await isUpToDate(larger), true);
  });

  test("a plan is refused once the database or the declarations have changed", async () => {
    const file = write(await plan(larger));
    const other = await migrate(smaller, "--apply", file);
    assert.deepEqual(
      [other.code, other.stderr],
      [1, "portico: the declarations have changed since the plan was made; make and review another one\n"],
    );
    const store = await openStore(workspace.databaseUrl);
    await store.database.run("alter table articles add column by_hand integer");
    await store.database.close();
    const changed = await migrate(larger, "--apply", file);
    assert.match(changed.stderr, /^portico: the schema of the database has changed since the plan was made/);
    assert.equal((await migrate(larger, "--apply", write(await plan(larger)))).code, 0);
    assert.match((await migrate(larger, "--apply", file)).stderr, /the schema of the database has changed/);
  });

  test("a plan with a contraction and a drop says what is lost, and asks", async () => {
    await migrate(larger);
    const made = await plan(smaller, "--contract", "--drop", "articles.note", "--drop", "parts");
    const lossy = made.steps.filter(({ losesData }: { losesData: boolean }) => losesData);
    assert.deepEqual(
      lossy.map(({ sql }: { sql: string }) => sql),
      ['alter table "articles" drop column "note"', 'drop table "parts"'],
    );
    assert.deepEqual(made.losses, ["0 values of the column articles.note", "the table parts with 0 rows"]);
    const file = write(made);
    assert.match((await migrate(smaller, "--apply", file)).stderr, /confirm it with --yes/);
    assert.match((await migrate(smaller, "--apply", file, "--drop", "parts")).stderr, /leave them out/);
    const { code, stderr } = await migrate(smaller, "--apply", file, "--yes");
    assert.equal(code, 0, stderr);
    assert.match(
      (await migrate(smaller, "--apply", file, "--yes")).stderr,
      /there is no table parts|has no column note/,
    );
  });

  test("an edited plan, and a file that is not a plan, is refused with one line, and nothing is changed", async () => {
    const made = await plan(larger);
    const edits: readonly [content: unknown, line: RegExp][] = [
      ["", /it is not JSON/],
      ["{", /it is not JSON/],
      [[], /it is not a JSON object/],
      [null, /it is not a JSON object/],
      [7, /it is not a JSON object/],
      [{}, /its version is not 1/],
      [{ ...made, version: 2 }, /its version is not 1/],
      [{ ...made, contract: "true" }, /contract is neither true nor false/],
      [{ ...made, drop: "articles.note" }, /drop is not a list of names/],
      [{ ...made, drop: [7] }, /drop is not a list of names/],
      [{ ...made, drop: ['articles"; drop table shops; --'] }, /is neither a field nor a resource/],
      [{ ...made, drop: ["users"] }, /the resource user is declared/],
      [{ ...made, keep: [null] }, /keep is not a list of names/],
      [{ ...made, fingerprints: null }, /it has no fingerprints/],
      [
        { ...made, fingerprints: { ...made.fingerprints, database: "0" } },
        /the schema of the database has changed/,
      ],
      [
        { ...made, fingerprints: { ...made.fingerprints, declarations: "" } },
        /the declarations have changed/,
      ],
      [{ ...made, steps: {} }, /steps is not a list of steps/],
      [{ ...made, steps: [{ sql: 1 }] }, /steps is not a list of steps/],
      [{ ...made, steps: made.steps.slice(1) }, /the steps of the plan are not those of this version/],
      [
        { ...made, steps: [{ kind: "drop", sql: "drop table shops", losesData: false }, ...made.steps] },
        /the steps of the plan are not those of this version/,
      ],
    ];
    for (const [content, line] of edits) {
      const { code, stderr } = await migrate(larger, "--apply", write(content), "--yes");
      assert.equal(code, 1, JSON.stringify(content).slice(0, 200));
      assert.match(stderr, /^portico: [^\n]+\n$/);
      assert.match(stderr, line);
    }
    assert.match((await migrate(larger, "--apply", "missing.json")).stderr, /missing\.json cannot be read/);
    assert.match((await migrate(larger, "--apply", ".")).stderr, /cannot be read/);
    const member = fc.constantFrom(...Object.keys(made));
    await fc.assert(
      fc.asyncProperty(member, fc.jsonValue(), async (name, value) => {
        const isAllowed = name === "contract" && typeof value === "boolean";
        const isSame = JSON.stringify(made[name]) === JSON.stringify(value);
        if (isAllowed || isSame || ["losses", "indexes"].includes(name)) return;
        const { code, stderr } = await migrate(larger, "--apply", write({ ...made, [name]: value }), "--yes");
        assert.equal(code, 1);
        assert.match(stderr, /^portico: [^\n]+\n$/);
      }),
      { numRuns: 40 },
    );
    assert.equal(await isUpToDate(smaller), true);
  });
});

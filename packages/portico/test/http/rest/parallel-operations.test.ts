// A hook may run several operations at the same time. Each takes effect as a whole or not at all: one that fails, and whose
// error the hook catches, undoes itself and what its own hooks have written, and nothing else.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { app } from "../../../src/declare/app.ts";
import { json, text } from "../../../src/declare/field.ts";
import { resource } from "../../../src/declare/resource.ts";
import type { Rows } from "../../../src/declare/rows.ts";
import { Problem } from "../../../src/errors.ts";
import { type DatabaseReader, openReader } from "../../support/database-reader.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { TestServer } from "../../support/scenario.ts";
import { makeWorkspace, onEachDatabase, Portico } from "../../support/server.ts";

/** A row to create: it creates its children at the same time, and then fails or not. */
interface Plan {
  readonly fails: boolean;
  readonly children: readonly Plan[];
}

const steps = resource("step", {
  fields: { path: text({ max: 200 }), plan: json() },
  unique: [["path"]],
  hooks: {
    after: {
      create: async ({ path, plan }, { rows }) => {
        const { fails, children } = plan as unknown as Plan;
        const create = (child: Plan, index: number) =>
          rows.create(steps, { path: `${path}/${index}`, plan: child as never });
        // Reading a row, and creating one that exists already, run at the same time too.
        const others = [
          rows.create(steps, { path, plan: { fails: false, children: [] } }),
          rows.get(steps, "step_01k00000000000000000000000"),
        ];
        await Promise.allSettled([...children.map(create), ...others]);
        if (fails) throw new Problem("conflict", "planned");
      },
    },
  },
  filter: ["path"],
});

/** Creating an outer row creates an inner one, whose hook reads by the rows of the hook of the outer one. */
let outerRows: Rows;
const nests = resource("nest", {
  fields: { name: text({ max: 20 }) },
  hooks: {
    after: {
      create: async ({ name }, { rows }) => {
        if (name === "inner") return void (await outerRows.get(nests, "nest_01k00000000000000000000000"));
        outerRows = rows;
        if (name === "outer") await rows.create(nests, { name: "inner" });
      },
    },
  },
});

/** The paths of the rows that a plan leaves. */
function pathsOf(path: string, { fails, children }: Plan): string[] {
  return fails ? [] : [path, ...children.flatMap((child, index) => pathsOf(`${path}/${index}`, child))];
}

function planOf(levels: number): fc.Arbitrary<Plan> {
  return fc.record({
    fails: fc.oneof({ weight: 2, arbitrary: fc.constant(false) }, fc.constant(true)),
    children: levels === 0 ? fc.constant([]) : fc.array(planOf(levels - 1), { maxLength: 3 }),
  });
}

onEachDatabase("operations that a hook runs at the same time", (database) => {
  const server = new TestServer();
  let reader: DatabaseReader;
  before(async () => {
    server.workspace = await makeWorkspace(database);
    server.portico = await Portico.startApp(
      server.workspace,
      app({ name: "Steps", resources: [steps, nests] }),
    );
    reader = openReader(server.workspace.databaseUrl);
  });
  after(async () => {
    await reader?.close();
    await server.portico?.stop();
    await server.workspace?.remove();
  });

  test("a hook that uses the rows of the hook that called it fails instead of waiting for it", async () => {
    const { status } = await server.request("/nests", { body: { name: "outer" } });
    assert.equal(status, 500);
    await server.create("/nests", { name: "alone" });
    assert.deepEqual(await reader.rows("select name from nests"), [["alone"]]);
  });

  test("each of them is undone as a whole or not at all", async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(planOf(3), async (tree) => {
        count += 1;
        const path = `tree ${count}`;
        const { status } = await server.request("/steps", { body: { path, plan: tree } });
        assert.equal(status, tree.fails ? 409 : 201);
        const left = await reader.rows(`select path from steps where path || '/' like '${path}/%'`);
        assert.deepEqual(left.flat().sort(), pathsOf(path, tree).sort());
      }),
      { numRuns: randomRuns(60, 15) },
    );
    const [counts] = await reader.rows(
      "select count(*), (select count(*) from events where resource = 'step') from steps",
    );
    assert.equal(counts![0], counts![1]);
  });
});

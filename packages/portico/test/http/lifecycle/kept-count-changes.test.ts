// Kept counts that are declared for tables with rows, changed and removed, while the old and the new version serve.

import assert from "node:assert/strict";
import { test } from "node:test";
import { belongsTo, choice, count, text } from "../../../src/declare/field.ts";
import { type Resource, resource } from "../../../src/declare/resource.ts";
import { pendingChanges } from "../../../src/store/schema/migrate.ts";
import { onEachDatabase, type Portico } from "../../support/server.ts";
import { TwoVersions, tablesFor } from "../../support/two-versions.ts";

type Status = "open" | "closed";

/** @param counted the issues that a project counts, if it counts any */
function versionOf(counted?: Status): readonly Resource[] {
  const name = { name: text({ max: 100 }) };
  const kept = { total: count((): Resource => issues, { where: { status: counted }, kept: true }) };
  const projects: Resource = resource("project", {
    fields: (counted ? { ...name, ...kept } : name) as Resource["fields"],
    sort: counted ? (["total"] as never[]) : [],
  });
  const fields = { title: text({ max: 100 }), status: choice(["open", "closed"]) };
  const issues: Resource = resource("issue", { parent: projects, fields }) as Resource;
  return [projects, issues];
}

async function create(server: Portico, path: string, body: object): Promise<string> {
  const created = await server.request(path, { body });
  assert.equal(created.status, 201, created.text);
  return created.body.id;
}

async function requireTotals(server: Portico, totals: Readonly<Record<string, number>>): Promise<void> {
  const { body } = await server.request("/projects?fields=name,total&limit=100");
  const shown = body.data.map(({ name, total }: { name: string; total: number }) => [name, total]);
  assert.deepEqual(Object.fromEntries(shown), totals);
}

/** Adds an issue of each status to a project, and closes another that was open. */
async function write(server: Portico, project: string): Promise<void> {
  await create(server, `/projects/${project}/issues`, { title: "late", status: "open" });
  const id = await create(server, `/projects/${project}/issues`, { title: "late", status: "open" });
  const changed = await server.request(`/issues/${id}`, { method: "PATCH", body: { status: "closed" } });
  assert.equal(changed.status, 200, changed.text);
}

onEachDatabase("a kept count", (database) => {
  test("that is added counts existing rows and those that an earlier version writes; killed, it goes on", async () => {
    const versions = await TwoVersions.startOld(database, versionOf(), versionOf("open"));
    try {
      const [one, two] = [
        await create(versions.old, "/projects", { name: "one" }),
        await create(versions.old, "/projects", { name: "two" }),
      ];
      await write(versions.old, one);
      const stop = new Error("killed");
      const killed = versions.migrate({
        onProgress() {
          throw stop;
        },
      });
      await assert.rejects(killed, stop);
      await write(versions.old, one);
      const { statements } = await versions.migrate({ isDryRun: true });
      assert.deepEqual(statements, [
        "-- count the rows of issues for projects.total",
        "-- mark projects.total as counted",
      ]);
      const writes: Promise<void>[] = [];
      await versions.migrate({ onProgress: () => void writes.push(write(versions.old, two)) });
      await Promise.all(writes);
      assert.deepEqual((await versions.migrate()).statements, []);
      await versions.upgrade();
      const three = await create(versions.old, "/projects", { name: "three" });
      await write(versions.old, three);
      await write(versions.new, three);
      await requireTotals(versions.new, { one: 2, two: 1, three: 2 });
      const gone = await versions.old.request(`/projects/${two}`, { method: "DELETE" });
      assert.equal(gone.status, 204);
      await versions.migrate({ isContraction: true });
      await write(versions.new, one);
      await requireTotals(versions.new, { one: 3, three: 2 });
    } finally {
      await versions.stop();
    }
  });

  test("of something else is counted again, and an earlier version still starts", async () => {
    const versions = await TwoVersions.startOld(database, versionOf("open"), versionOf("closed"));
    try {
      const one = await create(versions.old, "/projects", { name: "one" });
      for (let times = 0; times < 2; times += 1) await write(versions.old, one);
      await create(versions.old, `/projects/${one}/issues`, { title: "a", status: "open" });
      await requireTotals(versions.old, { one: 3 });
      await versions.upgrade();
      await requireTotals(versions.new, { one: 2 });
      assert.deepEqual(await pendingChanges(versions.store, tablesFor(versionOf("open"))), []);
      await write(versions.old, one);
      await requireTotals(versions.new, { one: 3 });
      assert.deepEqual((await versions.migrate()).statements, []);
    } finally {
      await versions.stop();
    }
  });

  test("that is removed is kept for an earlier version until the contraction, and its column can be dropped", async () => {
    const versions = await TwoVersions.start(database, versionOf("open"), versionOf());
    try {
      const one = await create(versions.new, "/projects", { name: "one" });
      await write(versions.new, one);
      await requireTotals(versions.old, { one: 1 });
      await versions.migrate({ drops: [{ name: "projects.total", table: "projects", column: "total" }] });
      await write(versions.new, one);
      assert.deepEqual((await versions.migrate({ isContraction: true, isDryRun: true })).statements, []);
    } finally {
      await versions.stop();
    }
  });

  test("goes on when a reference of the counted rows is dropped, or one of the rows that count", async () => {
    const versionWith = (other: Resource["fields"]): readonly Resource[] => {
      const kept = {
        total: count((): Resource => issues, { where: { status: "open" }, kept: true, by: "project" }),
      };
      const fields = { name: text({ max: 100 }), ...kept, ...other };
      const projects: Resource = resource("project", { fields: fields as Resource["fields"] });
      const issues = resource("issue", {
        parent: projects,
        fields: { title: text({ max: 100 }), status: choice(["open", "closed"]), ...other },
      }) as Resource;
      return [projects, issues, others];
    };
    const others = resource("other", { fields: { name: text({ max: 100 }) } }) as Resource;
    const reference = { other: belongsTo(() => others, { optional: true }) } as Resource["fields"];
    const versions = await TwoVersions.startOld(database, versionWith(reference), versionWith({}));
    try {
      const one = await create(versions.old, "/projects", { name: "one" });
      await write(versions.old, one);
      const drops = ["projects", "issues"].map((table) => ({
        name: `${table}.other`,
        table,
        column: "other",
      }));
      await versions.migrate({ drops });
      await versions.upgrade();
      await write(versions.new, one);
      await requireTotals(versions.new, { one: 2 });
      assert.deepEqual((await versions.migrate({ isContraction: true })).statements, []);
    } finally {
      await versions.stop();
    }
  });
});

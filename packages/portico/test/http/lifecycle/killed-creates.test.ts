// A server that is killed during 64 concurrent creates loses no row that it acknowledged, and leaves no row without its
// event and no event without its row. On PostgreSQL, clubs are created by one statement, and passes, which have a hook, in a
// transaction.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type DatabaseReader, openReader } from "../../support/database-reader.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { makeWorkspace, onEachDatabase, PorticoProcess, type Workspace } from "../../support/server.ts";

const rounds = randomRuns(8, 3);
const creators = 64;
const options = {
  cwd: resolve(import.meta.dirname, "../../fixtures/club"),
  env: { PORTICO_KEY_QUOTA: "1000000/60" },
};
const kinds = [
  { path: "/clubs", table: "clubs", resource: "club", body: { name: "Club" } },
  { path: "/passes", table: "passes", resource: "pass", body: { holder: "Ada" } },
] as const;

onEachDatabase("kill -9 during concurrent creates, with hooks and without", (database) => {
  let workspace: Workspace;
  let portico: PorticoProcess;
  let reader: DatabaseReader;
  before(async () => {
    workspace = await makeWorkspace(database);
    portico = await PorticoProcess.start(workspace, options);
    reader = openReader(workspace.databaseUrl);
  });
  after(async () => {
    await reader?.close();
    await portico?.stop();
    await workspace?.remove();
  });

  const acknowledged: Readonly<Record<string, string[]>> = { clubs: [], passes: [] };

  async function createUntilKilled(): Promise<void> {
    const counts = kinds.map(({ table }) => acknowledged[table]!.length);
    let isKilled = false;
    const creating = Array.from({ length: creators }, async (_, index) => {
      const { path, table, body } = kinds[index % kinds.length]!;
      for (;;) {
        try {
          const answer = await portico.request(path, { body });
          assert.equal(answer.status, 201, answer.text);
          acknowledged[table]!.push(answer.body.id);
        } catch (error) {
          if (!isKilled || error instanceof assert.AssertionError) throw error;
          return;
        }
      }
    });
    const hasBegun = (): boolean =>
      kinds.every(({ table }, index) => acknowledged[table]!.length > counts[index]!);
    for (const until = Date.now() + 10_000; Date.now() < until && !hasBegun(); ) await sleep(5);
    await sleep(Math.random() * 100);
    isKilled = true;
    await portico.kill();
    await Promise.all(creating);
    assert.ok(hasBegun(), "rows of both kinds were acknowledged before the kill");
  }

  test(`after each of ${rounds} kills, rows and events are complete`, async () => {
    for (let round = 0; round < rounds; round += 1) {
      await createUntilKilled();
      portico = await PorticoProcess.start(workspace, { ...options, key: portico.key });
      for (const { table, resource } of kinds) {
        const unequal = await reader.rows(`select r.id, count(e.id) from ${table} r left join events e
          on e.row_id = r.id and e.kind = '${resource}.created' and e.tenant_no = r.tenant_no
          group by r.id having count(e.id) <> 1`);
        assert.deepEqual(unequal, [], "rows without exactly one event");
        const orphans = await reader.rows(`select row_id from events
          where kind = '${resource}.created' and row_id not in (select id from ${table})`);
        assert.deepEqual(orphans, [], "events without a row");
        const stored = new Set((await reader.rows(`select id from ${table}`)).map(([id]) => id));
        assert.deepEqual(
          acknowledged[table]!.filter((id) => !stored.has(id)),
          [],
          "acknowledged rows that are missing",
        );
      }
      assert.deepEqual(await reader.faults(), []);
    }
  });
});

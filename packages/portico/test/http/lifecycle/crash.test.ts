// A server that is killed while it writes loses nothing that it acknowledged, and leaves nothing half done.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type DatabaseReader, openReader } from "../../support/database-reader.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { makeWorkspace, onEachDatabase, PorticoProcess, type Workspace } from "../../support/server.ts";

const rounds = { sqlite: randomRuns(20, 5), postgres: randomRuns(5, 3) };
const creators = 16;

onEachDatabase("kill -9 during a load of creates", (database) => {
  let workspace: Workspace;
  let portico: PorticoProcess;
  let reader: DatabaseReader;
  before(async () => {
    workspace = await makeWorkspace(database);
    portico = await PorticoProcess.start(workspace);
    reader = openReader(workspace.databaseUrl);
  });
  after(async () => {
    await reader?.close();
    await portico?.stop();
    await workspace?.remove();
  });

  /** Creates posts until the server is killed. @returns the ids of those that were acknowledged */
  async function createUntilKilled(): Promise<string[]> {
    const acknowledged: string[] = [];
    let isKilled = false;
    const creating = Array.from({ length: creators }, async () => {
      while (true) {
        try {
          const answer = await portico.request("/posts", {
            body: { title: "Acknowledged", body: "x".repeat(500) },
          });
          assert.equal(answer.status, 201, answer.text);
          acknowledged.push(answer.body.id);
        } catch (error) {
          if (!isKilled || error instanceof assert.AssertionError) throw error;
          return;
        }
      }
    });
    for (const until = Date.now() + 10_000; Date.now() < until && acknowledged.length === 0; ) await sleep(5);
    await sleep(Math.random() * 120);
    isKilled = true;
    await portico.kill();
    await Promise.all(creating);
    return acknowledged;
  }

  test(`every acknowledged post exists after each of ${rounds[database]} restarts`, async () => {
    const all: string[] = [];
    for (let round = 1; round <= rounds[database]; round++) {
      const acknowledged = await createUntilKilled();
      assert.ok(acknowledged.length > 0, "nothing was acknowledged before the kill");
      all.push(...acknowledged);
      portico = await PorticoProcess.start(workspace, { key: portico.key });
      const answers = await Promise.all(acknowledged.map((id) => portico.request(`/posts/${id}`)));
      const missing = answers.filter(({ status }) => status !== 200);
      assert.equal(
        missing.length,
        0,
        `${missing.length} of ${answers.length} acknowledged posts are missing`,
      );
      assert.deepEqual(await reader.faults(), []);
    }
    const stored = new Set((await reader.rows("select id from posts")).map(([id]) => id));
    assert.deepEqual(
      all.filter((id) => !stored.has(id)),
      [],
    );
  });

  test("every post has exactly one created event, and every event its post", async () => {
    const unequal = await reader.rows(`select posts.id, count(events.id) from posts left join events
      on events.row_id = posts.id and events.kind = 'post.created' group by posts.id having count(events.id) <> 1`);
    assert.deepEqual(unequal, []);
    const orphans = await reader.rows(`select row_id from events
      where kind = 'post.created' and row_id not in (select id from posts)`);
    assert.deepEqual(orphans, []);
  });
});

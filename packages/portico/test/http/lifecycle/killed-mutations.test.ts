// A server that is killed between the mutations of an operation leaves all of them or none.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type DatabaseReader, openReader } from "../../support/database-reader.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { makeWorkspace, onEachDatabase, PorticoProcess, type Workspace } from "../../support/server.ts";

const rounds = randomRuns(8, 2);
const clients = 8;
const mutationsOfOperation = 20;

onEachDatabase("kill -9 during operations with several mutations", (database) => {
  let workspace: Workspace;
  let portico: PorticoProcess;
  let reader: DatabaseReader;
  before(async () => {
    workspace = await makeWorkspace(database);
    portico = await PorticoProcess.start(workspace, { env: { PORTICO_KEY_QUOTA: "1000000/60" } });
    reader = openReader(workspace.databaseUrl);
  });
  after(async () => {
    await reader?.close();
    await portico?.stop();
    await workspace?.remove();
  });

  let operations = 0;
  /** Runs operations until the server is killed. @returns the titles of those that were acknowledged */
  async function runUntilKilled(): Promise<string[]> {
    const acknowledged: string[] = [];
    let isKilled = false;
    const running = Array.from({ length: clients }, async () => {
      for (;;) {
        const title = `operation ${++operations}`;
        const mutations = Array.from(
          { length: mutationsOfOperation },
          (_, index) => `m${index}: createPost(input: { title: "${title}" }) { id }`,
        );
        try {
          const body = { query: `mutation { ${mutations.join(" ")} }` };
          const answer = await portico.request("/graphql", { body });
          assert.equal(answer.body.errors, undefined, answer.text);
          acknowledged.push(title);
        } catch (error) {
          if (!isKilled || error instanceof assert.AssertionError) throw error;
          return;
        }
      }
    });
    for (const until = Date.now() + 10_000; Date.now() < until && acknowledged.length < 2; ) await sleep(5);
    await sleep(Math.random() * 100);
    isKilled = true;
    await portico.kill();
    await Promise.all(running);
    return acknowledged;
  }

  test(`after each of ${rounds} restarts, every operation is complete or absent`, async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      acknowledged.push(...(await runUntilKilled()));
      portico = await PorticoProcess.start(workspace, {
        key: portico.key,
        env: { PORTICO_KEY_QUOTA: "1000000/60" },
      });
      const counts = await reader.rows(
        "select title, count(*) from posts where title like 'operation %' group by title",
      );
      const incomplete = counts.filter(([, count]) => Number(count) !== mutationsOfOperation);
      assert.deepEqual(incomplete, []);
      const complete = new Set(counts.map(([title]) => title));
      assert.deepEqual(
        acknowledged.filter((title) => !complete.has(title)),
        [],
      );
      const unequal = await reader.rows(`select posts.id from posts left join events
        on events.row_id = posts.id and events.kind = 'post.created' group by posts.id having count(events.id) <> 1`);
      assert.deepEqual(unequal, []);
    }
  });
});

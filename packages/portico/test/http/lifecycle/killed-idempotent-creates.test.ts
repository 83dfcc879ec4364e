// A client that repeats a request with its Idempotency-Key after the server was killed creates one row, and gets the answer
// that it may have received before.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { randomRuns } from "../../support/random-runs.ts";
import { makeWorkspace, onEachDatabase, PorticoProcess, type Workspace } from "../../support/server.ts";

const rounds = randomRuns(4, 2);
const clients = 16;
const options = {
  cwd: resolve(import.meta.dirname, "../../fixtures/club"),
  env: { PORTICO_KEY_QUOTA: "1000000/60" },
};

onEachDatabase("kill -9 during creates with Idempotency-Key", (database) => {
  let workspace: Workspace;
  let portico: PorticoProcess;
  before(async () => {
    workspace = await makeWorkspace(database);
    portico = await PorticoProcess.start(workspace, options);
  });
  after(async () => {
    await portico?.stop();
    await workspace?.remove();
  });

  /** Every key with the body that was received for it; undefined if the server was killed before. */
  const sent = new Map<string, string | undefined>();
  const create = (key: string) =>
    portico.request("/passes", { body: { holder: key }, headers: { "idempotency-key": key } });

  async function createUntilKilled(round: number): Promise<void> {
    let isKilled = false;
    const sending = Array.from({ length: clients }, async (_, client) => {
      for (let count = 0; !isKilled; count += 1) {
        const key = `${round}-${client}-${count}`;
        sent.set(key, undefined);
        try {
          const { status, text } = await create(key);
          assert.equal(status, 201, text);
          sent.set(key, text);
        } catch (error) {
          if (!isKilled || error instanceof assert.AssertionError) throw error;
        }
      }
    });
    const received = () => [...sent.values()].filter((text) => text !== undefined).length;
    const before = received();
    for (const until = Date.now() + 10_000; Date.now() < until && received() < before + clients; )
      await sleep(5);
    await sleep(Math.random() * 50);
    isKilled = true;
    await portico.kill();
    await Promise.all(sending);
  }

  test(`after each of ${rounds} kills, every repeated request has created one row`, async () => {
    for (let round = 0; round < rounds; round += 1) {
      await createUntilKilled(round);
      portico = await PorticoProcess.start(workspace, { ...options, key: portico.key });
      for (const [key, text] of sent) {
        const again = await create(key);
        assert.equal(again.status, 201, again.text);
        if (text !== undefined)
          assert.deepEqual([again.text, again.headers.get("idempotent-replayed")], [text, "true"]);
        const { body } = await portico.request(`/passes?holder=${key}&fields=id`);
        assert.deepEqual(body.data, [{ id: again.body.id }], key);
      }
      sent.clear();
    }
  });
});

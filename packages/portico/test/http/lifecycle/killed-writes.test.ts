// A server that is killed under a load of writes loses nothing that it acknowledged, and leaves nothing half done. On
// PostgreSQL, clubs are created by one statement, and passes, which have a hook, in a transaction.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type DatabaseReader, openReader } from "../../support/database-reader.ts";
import { randomRuns } from "../../support/random-runs.ts";
import {
  type Answer,
  makeWorkspace,
  onEachDatabase,
  PorticoProcess,
  type Workspace,
} from "../../support/server.ts";

const rounds = { sqlite: randomRuns(20, 4), postgres: randomRuns(8, 3) };
const mutationsOfOperation = 20;
const cwd = resolve(import.meta.dirname, "../../fixtures/club");

onEachDatabase("kill -9 under a load of writes", (database) => {
  let workspace: Workspace;
  let portico: PorticoProcess;
  let reader: DatabaseReader;
  before(async () => {
    workspace = await makeWorkspace(database);
    portico = await PorticoProcess.start(workspace, { cwd });
    reader = openReader(workspace.databaseUrl);
  });
  after(async () => {
    await reader?.close();
    await portico?.stop();
    await workspace?.remove();
  });

  /** The ids of acknowledged rows. */
  const clubs: string[] = [];
  const passes: string[] = [];
  /** The names of the clubs of acknowledged operations. */
  const operations: string[] = [];
  /** The answer to each Idempotency-Key of the round; undefined if the server was killed before it was received. */
  const answers = new Map<string, string | undefined>();
  let count = 0;

  const create = async (
    path: string,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const answer = await portico.request(path, { body, headers });
    assert.equal(answer.status, 201, answer.text);
    return answer;
  };
  const createOnce = (key: string): Promise<Answer> =>
    create("/passes", { holder: key }, { "idempotency-key": key });

  /** What clients send again and again, and how many clients do. */
  const loads: readonly (readonly [clients: number, send: () => Promise<unknown>])[] = [
    [24, async () => clubs.push((await create("/clubs", { name: "Club" })).body.id)],
    [24, async () => passes.push((await create("/passes", { holder: "Ada" })).body.id)],
    [
      8,
      async () => {
        const name = `operation ${++count}`;
        const mutations = Array.from(
          { length: mutationsOfOperation },
          (_, index) => `m${index}: createClub(input: { name: "${name}" }) { id }`,
        );
        const body = { query: `mutation { ${mutations.join(" ")} }` };
        const answer = await portico.request("/graphql", { body });
        assert.equal(answer.body.errors, undefined, answer.text);
        operations.push(name);
      },
    ],
    [
      8,
      async () => {
        const key = `key-${++count}`;
        answers.set(key, undefined);
        answers.set(key, (await createOnce(key)).text);
      },
    ],
  ];
  const acknowledged = (): number[] => [
    ...[clubs, passes, operations].map(({ length }) => length),
    [...answers.values()].filter((text) => text !== undefined).length,
  ];

  /** Sends the loads until the server is killed, which is once each has been acknowledged something. */
  async function writeUntilKilled(): Promise<void> {
    const before = acknowledged();
    const hasBegun = (): boolean => acknowledged().every((number, index) => number > before[index]!);
    let isKilled = false;
    const writing = loads.flatMap(([clients, send]) =>
      Array.from({ length: clients }, async () => {
        while (!isKilled)
          await send().catch((error: unknown) => {
            if (!isKilled || error instanceof assert.AssertionError) throw error;
          });
      }),
    );
    for (const until = Date.now() + 10_000; Date.now() < until && !hasBegun(); ) await sleep(5);
    await sleep(Math.random() * 100);
    isKilled = true;
    await portico.kill();
    await Promise.all(writing);
    assert.ok(hasBegun(), "writes of all kinds were acknowledged before the kill");
  }

  test(`after each of ${rounds[database]} kills, rows, events, operations and answers are complete`, async () => {
    for (let round = 0; round < rounds[database]; round += 1) {
      answers.clear();
      await writeUntilKilled();
      portico = await PorticoProcess.start(workspace, { cwd, key: portico.key });
      await assertStored("clubs", "club", clubs);
      await assertStored("passes", "pass", passes);
      await assertOperations();
      await Promise.all([...answers].map(([key, text]) => assertRepeatable(key, text)));
      assert.deepEqual(await reader.faults(), []);
    }
  });

  /** Acknowledged rows are stored and served, and each row has the one event of its creation. */
  async function assertStored(table: string, resource: string, ids: readonly string[]): Promise<void> {
    const idsOf = async (sql: string): Promise<unknown[]> =>
      (await reader.rows(sql)).map(([id]) => id).sort();
    const stored = await idsOf(`select id from ${table}`);
    const found = new Set(stored);
    assert.deepEqual(
      ids.filter((id) => !found.has(id)),
      [],
      "acknowledged rows that are missing",
    );
    for (const id of ids.slice(-5)) assert.equal((await portico.request(`/${table}/${id}`)).status, 200);
    const created = await idsOf(`select row_id from events where kind = '${resource}.created'`);
    assert.deepEqual(created, stored, "each row has one event, and each event its row");
  }

  /** Each operation has created all of its clubs or, if it was not acknowledged, none. */
  async function assertOperations(): Promise<void> {
    const counts = await reader.rows(
      "select name, count(*) from clubs where name like 'operation %' group by name",
    );
    assert.deepEqual(
      counts.filter(([, number]) => Number(number) !== mutationsOfOperation),
      [],
    );
    const complete = new Set(counts.map(([name]) => name));
    assert.deepEqual(
      operations.filter((name) => !complete.has(name)),
      [],
    );
  }

  /** A request that is repeated with its key has created one row, and gets the answer that its client may have received. */
  async function assertRepeatable(key: string, text: string | undefined): Promise<void> {
    const again = await createOnce(key);
    if (text !== undefined)
      assert.deepEqual([again.text, again.headers.get("idempotent-replayed")], [text, "true"]);
    const { body } = await portico.request(`/passes?holder=${key}&fields=id`);
    assert.deepEqual(body.data, [{ id: again.body.id }], key);
  }
});

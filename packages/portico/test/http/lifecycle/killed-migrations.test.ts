// A migration of many rows is killed again and again while the old version serves. It continues where it stopped, and no
// request, row or event is lost.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { after as afterAll, before as beforeAll, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openReader, updatedAtColumn } from "../../support/database-reader.ts";
import { makeTenant } from "../../support/scenario.ts";
import {
  type DatabaseName,
  makeWorkspace,
  onEachDatabase,
  type Portico,
  PorticoProcess,
  porticoProcess,
  type Workspace,
} from "../../support/server.ts";

const [before, after] = ["version-1", "version-3"].map((name) =>
  resolve(import.meta.dirname, "../../fixtures", name),
) as [string, string];

const rowCount = 5_000;

const live = {
  PORTICO_MODE: "live",
  PORTICO_SECRET: "e6b0c2f8d91a4735a2c4d6e8f0b1a3c5",
  PUBLIC_URL: "https://shop.example.com",
};

onEachDatabase("a migration that is killed", (database) => {
  let workspace: Workspace;
  let server: PorticoProcess;
  beforeAll(async () => {
    workspace = await makeWorkspace(database);
    const migrated = await porticoProcess(workspace, ["migrate"], { cwd: before, env: live });
    assert.equal(migrated.code, 0, migrated.stderr);
    const { key } = await makeTenant(workspace, "*", { env: live, cwd: before });
    server = await PorticoProcess.start(workspace, { cwd: before, env: live, key });
  });
  afterAll(async () => {
    await server?.stop();
    await workspace?.remove();
  });

  test("continues, while the old and the new version serve", { timeout: 300_000 }, async (context) => {
    const { body: shop } = await server.request("/shops", { body: { name: "Corner" } });
    await addRows(workspace, database, shop.id);
    const old = new Load(server, "/articles", (number) => ({ name: `Old ${number}`, shopId: shop.id }));
    context.after(() => old.stop());
    const kills = await untilDone(workspace, ["migrate", "--keep", "articles.size"]);
    const newer = await PorticoProcess.start(workspace, { cwd: after, env: live, key: server.key });
    const young = new Load(newer, "/articles", (number) => ({
      ...{ title: `New ${number}`, code: `new-${number}`, kind: "pen", price: 2, shopId: shop.id },
    }));
    try {
      await sleep(1_500);
      await old.stop();
      await server.stop();
      const contractionKills = await untilDone(workspace, ["migrate", "--contract"]);
      const drop = ["migrate", "--drop", "articles.size", "--yes"];
      const dropped = await porticoProcess(workspace, drop, { cwd: after, env: live });
      assert.equal(dropped.code, 0, dropped.stderr);
      context.diagnostic(`killed ${kills} and ${contractionKills} times`);
      await young.stop();
      assert.ok(kills > 0);
      assert.deepEqual([...old.failures, ...young.failures].slice(0, 5), []);
      assert.ok(old.created.length > 0 && young.created.length > 0);
      await assertComplete(workspace, old.created, young.created);
      const { body } = await newer.request(`/articles/${old.created.at(-1)}`);
      assert.deepEqual(
        [body.title.startsWith("Old"), body.kind, body.code, body.price],
        [true, "ink", body.id, 0],
      );
      const page = await newer.request("/articles?kind=ink&limit=100&sort=-title");
      assert.equal(page.body.data.length, 100);
      const found = await newer.request(`/articles?q=${encodeURIComponent(`row ${rowCount - 1}`)}`);
      assert.equal(found.body.data.length, 1, found.text);
    } finally {
      await newer.stop();
    }
  });
});

async function addRows(workspace: Workspace, database: DatabaseName, shopId: string): Promise<void> {
  const reader = openReader(workspace.databaseUrl);
  const now = database === "sqlite" ? "'2026-01-01T00:00:00.000Z'" : "timestamptz '2026-01-01'";
  const numbers =
    database === "sqlite"
      ? `(with recursive n(n) as (select 1 union all select n + 1 from n where n < ${rowCount}) select n from n)`
      : `(select generate_series(1, ${rowCount}) as n)`;
  await reader.write(
    `insert into articles (tenant_no, id, name, code, size, stock, shop_id, search_words, created_at, ${updatedAtColumn(database)})
     select (select tenant_no from shops where id = '${shopId}'), 'article_' || (1000000 + n), 'Row ' || n, null, 'small', n,
       '${shopId}', '', ${now}, ${now} from ${numbers} as numbers`,
  );
  await reader.close();
}

/**
 * Runs a command, and kills it later each time, at any point of time, until it ends without being killed.
 * @returns how often it was killed
 */
async function untilDone(workspace: Workspace, words: readonly string[]): Promise<number> {
  for (let kills = 0; ; kills += 1) {
    const killAfterMs = kills > 5 ? 120_000 : 600 + 500 * kills + Math.floor(Math.random() * 500);
    const { code, stderr } = await porticoProcess(workspace, words, { cwd: after, env: live, killAfterMs });
    if (code === 0) return kills;
    assert.equal(code, null, stderr);
  }
}

async function assertComplete(
  workspace: Workspace,
  byOld: readonly string[],
  byNew: readonly string[],
): Promise<void> {
  const reader = openReader(workspace.databaseUrl);
  try {
    const [[rows, codes, filled]] = (await reader.rows(
      "select count(*), count(code), sum(case when price = stock * 1.5 and kind = 'ink' and code = id then 1 else 0 end) from articles",
    )) as [[unknown, unknown, unknown]];
    const total = rowCount + byOld.length + byNew.length;
    assert.deepEqual([rows, codes, filled].map(Number), [total, total, rowCount + byOld.length]);
    const events = await reader.rows("select row_id from events where kind = 'article.created' order by 1");
    assert.deepEqual(
      events.map(([id]) => id),
      [...byOld, ...byNew].sort(),
    );
    assert.deepEqual(await reader.faults(), []);
  } finally {
    await reader.close();
  }
}

/** A client that writes and reads, one request after the other. */
class Load {
  readonly failures: string[] = [];
  readonly created: string[] = [];
  readonly #running: Promise<void>;
  #isStopped = false;

  constructor(server: Portico, path: string, bodyOf: (number: number) => object) {
    this.#running = this.#run(server, path, bodyOf);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(server: Portico, path: string, bodyOf: (number: number) => object): Promise<void> {
    for (let number = 0; !this.#isStopped; number += 1) {
      const { status, text, body } = await server.request(path, { body: bodyOf(number) });
      if (status === 201) this.created.push(body.id);
      else this.failures.push(`${number}: ${status} ${text}`);
      for (const query of ["?limit=20", "?q=old&limit=5", `/${body?.id}`]) {
        const answer = await server.request(path + query);
        if (answer.status !== 200) this.failures.push(`${path}${query}: ${answer.status} ${answer.text}`);
      }
      await sleep(20);
    }
  }
}

// A new version of a configuration migrates and serves while a process of the previous version keeps running.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openStore } from "../../../src/store/open.ts";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { serveProcess, type TestServer } from "../../support/scenario.ts";
import { type Answer, onEachDatabase, PorticoProcess, porticoProcess } from "../../support/server.ts";

const [before, after] = ["version-1", "version-2"].map((name) =>
  resolve(import.meta.dirname, "../../fixtures", name),
) as [string, string];
const live = {
  PORTICO_MODE: "live",
  PORTICO_SECRET: "e6b0c2f8d91a4735a2c4d6e8f0b1a3c5",
  PUBLIC_URL: "https://shop.example.com",
};

onEachDatabase("two versions side by side", (database) => {
  const server = serveProcess(database, { cwd: before });

  test("the old version is not disturbed during and after the migration of the new one", async () => {
    const { id: shopId } = await server.create("/shops", { name: "Corner" });
    for (let number = 0; number < 60; number += 1)
      await server.create("/articles", { name: `Old ${number}`, code: `old-${number}`, shopId });
    const load = new Load(server, shopId);
    const stream = await subscribed(server);
    const loading = load.run();
    await sleep(300);

    const { code, stderr } = await porticoProcess(server.workspace, ["migrate"], { cwd: after });
    assert.equal(code, 0, stderr);
    const newer = await PorticoProcess.start(server.workspace, { cwd: after, key: server.portico.key });
    try {
      const { body: brand } = await newer.request("/brands", { body: { name: "Acme" } });
      const branded = { name: "New", code: "new-1", size: "huge", brandId: brand.id, stock: 7 };
      const { status, body: created } = await newer.request("/articles", { body: branded });
      assert.equal(status, 201);
      await sleep(500);
      load.stop();
      await loading;
      await migratesOnce(server);

      assert.deepEqual(load.failures.slice(0, 5), []);
      assert.ok(load.created.length > 20, String(load.created.length));
      assert.equal((await server.request(`/articles/${created.id}`)).status, 200);
      assert.equal(
        (await server.request("/articles", { body: { name: "Double", code: "new-1" } })).status,
        409,
      );
      for (const id of load.created.slice(-20)) {
        const { body } = await newer.request(`/articles/${id}`);
        const { unit, isSold, weight, labels, brandId, note } = body;
        assert.deepEqual(
          { unit, isSold, weight, labels, brandId, note },
          { unit: "piece", isSold: true, weight: 1.5, labels: [], brandId: null, note: null },
        );
      }
      await expectEvents(stream, load.created);
      stream.close();
    } finally {
      await newer.stop();
    }
  });

  test("a process of the old version starts again", async () => {
    const again = await PorticoProcess.start(server.workspace, {
      cwd: before,
      env: live,
      key: server.portico.key,
    });
    assert.equal(await again.stop(), 0);
  });
});

const subscription = "subscription { articleCreated { id } }";

/** A subscription that has certainly started. */
async function subscribed(server: TestServer): Promise<TestStream> {
  const stream = await TestStream.open(server.portico, subscription);
  while (stream.allResults.length === 0) {
    await server.create("/articles", { name: "First" });
    await sleep(50);
  }
  return stream;
}

async function expectEvents(stream: TestStream, ids: readonly string[]): Promise<void> {
  const missing = new Set(ids);
  for (let count = ids.length; missing.size > 0; count += 1)
    for (const { data } of await stream.results(count)) missing.delete(data.articleCreated.id);
}

async function migratesOnce({ workspace }: TestServer): Promise<void> {
  const { stdout } = await porticoProcess(workspace, ["migrate", "--json"], { cwd: after });
  assert.deepEqual(JSON.parse(stdout).statements, []);
}

/** Callers of every kind, each of whom sends one request after the other. */
class Load {
  readonly failures: string[] = [];
  readonly created: string[] = [];
  readonly #server: TestServer;
  readonly #shopId: string;
  #isStopped = false;

  constructor(server: TestServer, shopId: string) {
    this.#server = server;
    this.#shopId = shopId;
  }

  async run(): Promise<void> {
    await Promise.all([this.#write(), this.#write(), this.#read(), this.#query()]);
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #write(): Promise<void> {
    for (let number = 0; !this.#isStopped; number += 1) {
      const name = `Loaded ${number}`;
      const { body } = await this.#send("POST", "/articles", { name, shopId: this.#shopId });
      if (!body?.id) continue;
      this.created.push(body.id);
      await this.#send("PATCH", `/articles/${body.id}`, { stock: number });
      const { body: removed } = await this.#send("POST", "/shops", { name });
      await this.#send("DELETE", `/shops/${removed?.id}`);
    }
  }

  async #read(): Promise<void> {
    while (!this.#isStopped) {
      await this.#send("GET", "/articles?limit=20&size=small");
      await this.#send("GET", "/articles?q=old&limit=5");
      await this.#send("GET", `/articles/${this.created.at(-1) ?? this.#shopId}`);
    }
  }

  async #query(): Promise<void> {
    const query = "{ articles(limit: 5) { id name size shop { name } } }";
    while (!this.#isStopped) {
      const { body, text } = await this.#send("POST", "/graphql", { query });
      if (body?.errors) this.failures.push(text);
    }
  }

  async #send(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await this.#server.request(path, { method, body });
    if (answer.status >= 500) this.failures.push(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  }
}

onEachDatabase("a column that is dropped while a process needs it", (database) => {
  const server = serveProcess(database, { cwd: before });

  test("requests for it are refused, others are served", async () => {
    await server.create("/articles", { name: "Pen" });
    const store = await openStore(server.workspace.databaseUrl);
    await store.database.run("alter table articles drop column stock");
    await store.database.close();
    for (const path of ["/articles", "/articles?q=pen"]) refused(await server.request(path));
    refused(await server.request("/articles", { body: { name: "Ink" } }));
    assert.equal((await server.request("/shops")).status, 200);
  });
});

function refused(answer: Answer): void {
  assert.equal(answer.status, 503, answer.text);
  assert.ok(answer.headers.get("retry-after"));
}

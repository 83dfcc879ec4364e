// Retention of events. Resuming before a deleted event is an error; resuming after it is not.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type DatabaseReader, openReader } from "../../support/database-reader.ts";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { makeWorkspace, onEachDatabase, Portico, type Workspace } from "../../support/server.ts";

const env = { PORTICO_EVENT_DAYS: "30" };
const posts = "subscription { postCreated { title } }";
const users = "subscription { userCreated { name } }";

onEachDatabase("expired events", (database) => {
  let workspace: Workspace;
  let server: Portico;
  let reader: DatabaseReader;
  /** The id of the last event of a post. */
  let lastPost = "";
  let earlierIds: readonly string[] = [];

  before(async () => {
    workspace = await makeWorkspace(database);
    const first = await Portico.start(workspace, { env });
    reader = openReader(workspace.databaseUrl);
    for (let n = 0; n < 3; n += 1) await first.request("/posts", { body: { title: `Old ${n}` } });
    await first.stop();
    const ids = await idsWhere("resource = 'post'");
    lastPost = ids.at(-1)!;
    earlierIds = ["0", ids.at(-2)!, ids[0]!];
    await age("resource = 'post'", 31);
    await copies(700, 31);
    await copies(5, 29);
    server = await Portico.start(workspace, { env, key: first.key });
    const isDone = async (): Promise<boolean> => (await count(`created_at < '${daysAgo(30)}'`)) === 0;
    for (let n = 0; n < 100 && !(await isDone()); n += 1) await sleep(100);
  });
  after(async () => {
    await server?.stop();
    await reader?.close();
    await workspace?.remove();
  });

  const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();
  const numbers = async (sql: string): Promise<number[][]> =>
    (await reader.rows(sql)).map((row) => row.map(Number));
  /** The ids of events, in their order. */
  const idsWhere = async (condition: string): Promise<string[]> => {
    const id = database === "sqlite" ? "sequence" : "transaction_id || '-' || sequence";
    const rows = await reader.rows(`select ${id} from events where ${condition} order by sequence`);
    return rows.map(([each]) => String(each));
  };
  const count = async (condition: string): Promise<number> =>
    (await numbers(`select count(*) from events where ${condition}`))[0]![0]!;
  const age = (condition: string, days: number): Promise<void> =>
    reader.write(`update events set created_at = '${daysAgo(days)}' where ${condition}`);
  /** Inserts events of another resource. */
  const copies = (many: number, days: number): Promise<void> => {
    const columns = "id, tenant_no, resource, kind, row_id, row, credential_id, created_at";
    const tenant = "(select no from tenants limit 1)";
    const rows = Array.from(
      { length: many },
      (_, n) =>
        `('e${days}.${n}', ${tenant}, 'other', 'other.created', 'none', '{}', 'none', '${daysAgo(days)}')`,
    );
    return reader.write(`insert into events (${columns}) values ${rows.join()}`);
  };
  const resume = (query: string, lastEventId: string): Promise<TestStream> =>
    TestStream.open(server, query, { extensions: { lastEventId } });
  const assertReceives = async (stream: TestStream, title: string): Promise<void> => {
    await server.request("/posts", { body: { title } });
    const [result] = await stream.results(1);
    assert.equal(result.data?.postCreated.title, title, JSON.stringify(result));
    stream.close();
  };

  test("are deleted after the start, and others are kept", async () => {
    assert.equal(await count(`created_at < '${daysAgo(30)}'`), 0);
    assert.equal(await count("resource = 'other'"), 5);
  });

  test("resuming before the last of them is an error", async () => {
    for (const lastEventId of earlierIds) {
      const stream = await resume(posts, lastEventId);
      const [result] = await stream.results(1);
      assert.match(result.errors[0].message, new RegExp(`^Events up to ${lastPost} have been deleted`));
      assert.equal(result.errors[0].extensions.code, "validation_error");
      await stream.ended();
    }
  });

  test("resuming at the last of them works, even if hundreds of other resources' events are deleted", async () =>
    assertReceives(await resume(posts, lastPost), "At the edge"));

  test("a resource without deleted events can be resumed from any event", async () => {
    const stream = await resume(users, (await idsWhere("resource = 'user'")).at(-1)!);
    await sleep(300);
    assert.deepEqual(stream.allResults, []);
    assert.ok(!stream.isClosed);
    stream.close();
  });

  test("the newest event is kept, so that the last id stays known", async () => {
    const newest = (await idsWhere("true")).at(-1)!;
    await age("true", 31);
    await server.stop();
    server = await Portico.start(workspace, { env, key: server.key });
    for (let n = 0; n < 100 && (await count("true")) > 1; n += 1) await sleep(100);
    assert.deepEqual(await idsWhere("true"), [newest]);
    await assertReceives(await resume(posts, newest), "Later");
  });

  test("a new subscription receives events", async () =>
    assertReceives(await TestStream.open(server, posts), "Anew"));
});

// Deletions and restorations at the same time as other writes, and rows that are deleted for good after some days.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { users } from "../../../src/auth/users/resource.ts";
import { deletedRowsRetention } from "../../../src/engine/purged-rows.ts";
import { Purge } from "../../../src/jobs/purge.ts";
import { buildModel } from "../../../src/model/build-model.ts";
import { openStore } from "../../../src/store/open.ts";
import { type DatabaseReader, openReader } from "../../support/database-reader.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";
import forum from "./forum.ts";

const rounds = 8;

onEachDatabase("soft deletions at the same time", (database) => {
  let boardId: string;
  let reader: DatabaseReader;
  const server = serve(database, {
    app: forum,
    prepare: async (started) => {
      boardId = (await started.create("/boards", { name: "Busy" })).id;
    },
  });
  before(() => {
    reader = openReader(server.workspace.databaseUrl);
  });
  after(() => reader?.close());

  const topic = async (slug: string): Promise<string> =>
    (await server.create(`/boards/${boardId}/topics`, { title: "Topic", slug })).id;
  const remove = (path: string): Promise<Answer> => server.request(path, { method: "DELETE" });
  const restore = (path: string): Promise<Answer> =>
    server.request(`${path}/restorations`, { method: "POST" });
  const idsIn = async (table: string, where: string): Promise<unknown[]> =>
    (await reader.rows(`select id from ${table} where ${where}`)).flat();

  test("every row is in one place, and no reply is without its topic", async () => {
    for (let round = 0; round < rounds; round += 1) {
      const id = await topic(`round-${round}`);
      const path = `/topics/${id}`;
      const reply = await server.create(`${path}/replies`, { body: "first" });
      await remove(path);
      const answers = await Promise.all([
        restore(path),
        restore(path),
        remove(path),
        server.request(`${path}/replies`, { body: { body: "more" } }),
        server.request(`/replies/${reply.id}`, { method: "PATCH", body: { body: "changed" } }),
        remove(path),
        remove(`/replies/${reply.id}`),
        restore(path),
        server.request("/pins", { body: { name: `pin-${round}`, topicId: id } }),
        restore(`/replies/${reply.id}`),
        server.request(path, { method: "PATCH", body: { title: "Changed" } }),
      ]);
      for (const { status, text } of answers)
        assert.ok([200, 201, 204, 404, 409, 422].includes(status), text);
      const [live, deleted] = [
        await idsIn("topics", `id = '${id}'`),
        await idsIn("deleted_topics", `id = '${id}'`),
      ];
      assert.equal(live.length + deleted.length, 1);
      const ofTopic = `topic_id = '${id}'`;
      const replies = await idsIn("replies", ofTopic);
      const all = [...replies, ...(await idsIn("deleted_replies", ofTopic))];
      assert.equal(all.length, new Set(all).size);
      assert.ok(all.includes(reply.id));
      if (deleted.length === 1) {
        assert.deepEqual(replies, []);
        const restored = await restore(path);
        expectAnswer(restored, { status: 201 });
      }
      expectAnswer(await server.request(path), { status: 200 });
      assert.equal((await idsIn("pins", ofTopic)).length, answers[8]!.status === 201 ? 1 : 0);
    }
    const { body } = await server.request("/v1/events?resource=topic&limit=100");
    const kinds = body.data.map(({ type }: { type: string }) => type);
    const count = (type: string): number => kinds.filter((each: string) => each === type).length;
    // Every topic is live at last, so each deletion was followed by an update.
    assert.ok(count("topic.deleted") >= rounds && count("topic.updated") >= count("topic.deleted"));
  });

  test("rows are deleted for good after the days of their resource, with those that were deleted with them", async () => {
    const [old, recent] = [await topic("old"), await topic("recent")];
    const label = await server.create("/labels", { name: "kept" });
    const reply = await server.create(`/topics/${old}/replies`, { body: "with old" });
    await server.create("/pins", { name: "with old", topicId: old });
    const alone = await server.create(`/topics/${recent}/replies`, { body: "alone" });
    for (const path of [`/replies/${alone.id}`, `/topics/${old}`, `/labels/${label.id}`])
      expectAnswer(await remove(path), { status: 204 });
    for (const table of ["deleted_topics", "deleted_replies", "deleted_pins", "deleted_labels"])
      await reader.write(`update ${table} set deleted_at = '2020-01-01T00:00:00.000Z'`);
    expectAnswer(await remove(`/topics/${recent}`), { status: 204 });
    const store = await openStore(server.workspace.databaseUrl);
    try {
      const model = buildModel(forum, [users]);
      await new Purge(store, deletedRowsRetention(store, model), (text, more) =>
        assert.fail(`${text} ${JSON.stringify(more)}`),
      ).purgeAll();
    } finally {
      await store.database.close();
    }
    expectAnswer(await restore(`/topics/${old}`), { status: 404 });
    assert.deepEqual(await idsIn("deleted_replies", `id = '${reply.id}'`), []);
    assert.deepEqual(await idsIn("deleted_pins", "name = 'with old'"), []);
    // Replies and labels are kept, unless they were deleted with a topic.
    assert.deepEqual(await idsIn("deleted_replies", `id = '${alone.id}'`), [alone.id]);
    expectAnswer(await restore(`/labels/${label.id}`), { status: 201 });
    expectAnswer(await restore(`/topics/${recent}`), { status: 201 });
    expectAnswer(await restore(`/replies/${alone.id}`), { status: 201 });
  });
});

// Rows that are deleted softly, over HTTP: they leave everything, and come back as they were.

import assert from "node:assert/strict";
import { test } from "node:test";
import { requestGraphql } from "../../support/graphql/request.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";
import forum from "./forum.ts";

onEachDatabase("soft deletion", (database) => {
  let boardId: string;
  const server = serve(database, {
    app: forum,
    prepare: async (started) => {
      boardId = (await started.create("/boards", { name: "News" })).id;
    },
  });
  const get = (path: string): Promise<Answer> => server.request(path);
  const remove = (path: string): Promise<Answer> => server.request(path, { method: "DELETE" });
  const restore = (path: string): Promise<Answer> =>
    server.request(`${path}/restorations`, { method: "POST", body: {} });
  const topic = (slug: string, more: object = {}) =>
    server.create(`/boards/${boardId}/topics`, { title: `Topic ${slug}`, slug, ...more });
  const idsOf = (answer: Answer): string[] => {
    assert.equal(answer.status, 200, answer.text);
    return answer.body.data.map(({ id }: { id: string }) => id);
  };

  test("a deleted row comes back as it was, with what was deleted with it", async () => {
    const { id } = await topic("whole", { rank: 7 });
    const gone = await server.create(`/topics/${id}/replies`, { body: "deleted before" });
    expectAnswer(await remove(`/replies/${gone.id}`), { status: 204 });
    const reply = await server.create(`/topics/${id}/replies`, { body: "kept", mood: "bad" });
    const pin = await server.create("/pins", { name: "first", topicId: id });
    const before = (await get(`/topics/${id}`)).body;
    expectAnswer(await remove(`/topics/${id}`), { status: 204 });
    for (const path of [`/topics/${id}`, `/replies/${reply.id}`, `/pins/${pin.id}`, `/topics/${id}/replies`])
      expectAnswer(await get(path), { status: 404 });
    assert.deepEqual(idsOf(await get(`/boards/${boardId}/topics?q=whole`)), []);

    const deleted = (await get(`/topics/${id}?deleted=true`)).body;
    assert.deepEqual(deleted, { ...before, deletedAt: deleted.deletedAt });
    assert.deepEqual(idsOf(await get(`/boards/${boardId}/topics?deleted=true`)), [id]);
    assert.deepEqual(idsOf(await get(`/boards/${boardId}/topics?deleted=true&sort=-deletedAt&slug=whole`)), [
      id,
    ]);
    expectAnswer(await get(`/replies/${reply.id}?deleted=true`), { status: 404 });

    const restored = await restore(`/topics/${id}`);
    expectAnswer(restored, { status: 201 });
    assert.deepEqual(restored.body, { ...before, updatedAt: restored.body.updatedAt });
    assert.deepEqual((await get(`/topics/${id}`)).body, restored.body);
    assert.deepEqual(idsOf(await get(`/topics/${id}/replies`)), [reply.id]);
    assert.equal((await get(`/replies/${reply.id}`)).body.mood, "bad");
    assert.equal((await get(`/pins/${pin.id}`)).status, 200);
    assert.deepEqual(idsOf(await get(`/boards/${boardId}/topics?q=whole`)), [id]);
    assert.deepEqual(idsOf(await get(`/topics/${id}/replies?deleted=true`)), [gone.id]);
    expectAnswer(await get(`/topics/${id}?deleted=true`), { status: 404 });
    expectAnswer(await restore(`/topics/${id}`), { status: 404 });
    expectAnswer(await restore(`/replies/${gone.id}`), { status: 201 });
    assert.deepEqual(idsOf(await get(`/topics/${id}/replies`)), [reply.id, gone.id]);
  });

  test("events say deleted and updated", async () => {
    const { id } = await topic("events");
    await remove(`/topics/${id}`);
    await restore(`/topics/${id}`);
    const { body } = await get(`/v1/events?resourceId=${id}`);
    const types = body.data.map(({ type }: { type: string }) => type).reverse();
    assert.deepEqual(types, ["topic.created", "topic.deleted", "topic.updated"]);
  });

  test("the unique values of a deleted row are free, and a restoration that collides is refused", async () => {
    const first = await topic("taken");
    await server.create("/pins", { name: "pin", topicId: first.id });
    await remove(`/topics/${first.id}`);
    const second = await topic("taken");
    expectAnswer(await restore(`/topics/${first.id}`), {
      status: 409,
      details: [{ field: "slug", issue: "duplicate" }],
    });
    await remove(`/topics/${second.id}`);
    const pin = await server.create("/pins", { name: "pin", topicId: (await topic("other")).id });
    expectAnswer(await restore(`/topics/${first.id}`), {
      status: 409,
      message: /pin/,
      details: [{ field: "name", issue: "duplicate" }],
    });
    await remove(`/pins/${pin.id}`);
    expectAnswer(await restore(`/topics/${first.id}`), { status: 201 });
    expectAnswer(await restore(`/topics/${second.id}`), { status: 409 });
  });

  test("a row that others refer to is not deleted, and one that refers to a deleted row is not restored", async () => {
    const label = await server.create("/labels", { name: "new" });
    const { id } = await topic("labelled", { labelId: label.id });
    expectAnswer(await remove(`/labels/${label.id}`), { status: 409 });
    await remove(`/topics/${id}`);
    const shown = async (): Promise<unknown> => {
      const query = "deleted=true&fields=slug,label.name,author.name&label.name=new&limit=100";
      return (await get(`/boards/${boardId}/topics?${query}`)).body.data.map(
        ({ label: named, author }: { label: unknown; author: object }) => [named, Object.keys(author)],
      );
    };
    assert.deepEqual(await shown(), [[{ id: label.id, name: "new" }, ["id", "name"]]]);
    expectAnswer(await remove(`/labels/${label.id}`), { status: 204 });
    assert.deepEqual(await shown(), []);
    assert.equal((await get(`/topics/${id}?deleted=true&fields=label.name`)).body.label, null);
    expectAnswer(await restore(`/topics/${id}`), {
      status: 409,
      details: [{ field: "labelId", issue: "reference" }],
    });
    expectAnswer(await restore(`/labels/${label.id}`), { status: 201 });
    expectAnswer(await restore(`/topics/${id}`), { status: 201 });
  });

  test("a row that is deleted for good takes its deleted rows along", async () => {
    const board = await server.create("/boards", { name: "Short" });
    const { id } = await server.create(`/boards/${board.id}/topics`, { title: "t", slug: "short" });
    await remove(`/topics/${id}`);
    expectAnswer(await remove(`/boards/${board.id}`), { status: 204 });
    expectAnswer(await get(`/topics/${id}?deleted=true`), { status: 404 });
    expectAnswer(await restore(`/topics/${id}`), { status: 404 });
  });

  test("a collection that is deleted as a whole can be restored row by row", async () => {
    const { body: me } = await get("/v1/me");
    const rows = [await topic("one"), await topic("two")];
    await server.create(`/topics/${rows[0].id}/replies`, { body: "with one" });
    expectAnswer(await remove(`/users/${me.user.id}/topics`), { status: 204 });
    assert.deepEqual(idsOf(await get(`/users/${me.user.id}/topics`)), []);
    const deleted = idsOf(await get(`/users/${me.user.id}/topics?deleted=true&limit=100`));
    for (const { id } of rows) {
      assert.ok(deleted.includes(id));
      expectAnswer(await restore(`/topics/${id}`), { status: 201 });
    }
    assert.equal(idsOf(await get(`/topics/${rows[0].id}/replies`)).length, 1);
  });

  test("GraphQL reads and restores deleted rows", async () => {
    const { id } = await topic("graph");
    const of = async (query: string) => (await requestGraphql(server, query)).body;
    const deletion = await of(`mutation { deleteTopic(id: "${id}") { id title deletedAt } }`);
    assert.deepEqual(deletion.data.deleteTopic, { id, title: "Topic graph", deletedAt: null });
    const { data } = await of(
      `{ topic(id: "${id}") { id } node(id: "${id}") { id } deleted: topic(id: "${id}", deleted: true) { title deletedAt author { id } }
         topics(boardId: "${boardId}", limit: 100, deleted: true) { id slug deletedAt }
         topicsConnection(boardId: "${boardId}", first: 100, deleted: true, filter: { slug: "graph" }) { edges { node { id deletedAt } } } }`,
    );
    assert.equal(data.topic, null);
    assert.equal(data.node, null);
    assert.equal(data.deleted.title, "Topic graph");
    assert.equal(typeof data.deleted.deletedAt, "string");
    assert.ok(
      data.topics.some((each: { id: string; deletedAt: unknown }) => each.id === id && each.deletedAt),
    );
    assert.deepEqual(
      data.topicsConnection.edges.map(({ node }: { node: object }) => node),
      [{ id, deletedAt: data.deleted.deletedAt }],
    );
    const restored = await of(`mutation { restoreTopic(id: "${id}") { id title deletedAt } }`);
    assert.deepEqual(restored.data.restoreTopic, { id, title: "Topic graph", deletedAt: null });
    assert.equal((await of(`{ topic(id: "${id}") { deletedAt } }`)).data.topic.deletedAt, null);
  });

  test("the parameter is refused where it has no meaning", async () => {
    const unknown = (path: string, field: string, issue: "unknown" | "type") =>
      get(path).then((answer) => expectAnswer(answer, { status: 422, details: [{ field, issue }] }));
    await unknown("/boards?deleted=true", "deleted", "unknown");
    await unknown("/pins?deleted=true", "deleted", "unknown");
    await unknown(`/boards/${boardId}/topics?deleted=yes`, "deleted", "type");
    await unknown(`/boards/${boardId}/topics?deleted=true&q=x`, "q", "unknown");
    await unknown(`/boards/${boardId}/topics?sort=deletedAt`, "sort", "choice" as never);
    await unknown(`/boards/${boardId}/topics?fields=deletedAt`, "fields", "unknown");
  });
});

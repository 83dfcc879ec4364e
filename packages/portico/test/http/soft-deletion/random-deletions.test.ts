// Random deletions, restorations and creates, compared with a plain model: what is deleted, what comes back with what, and
// which unique values are free.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { randomRuns } from "../../support/random-runs.ts";
import { serve, type TestServer } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";
import forum from "./forum.ts";

type Kind = "label" | "topic" | "reply" | "pin";
const kinds: readonly Kind[] = ["label", "topic", "reply", "pin"];

interface Row {
  readonly kind: Kind;
  readonly id: string;
  /** What is unique among the rows of its kind. */
  readonly name: string;
  readonly topic: Row | undefined;
  readonly label: Row | undefined;
  /** The row with which it was deleted; undefined while it is not. */
  deletedWith: Row | undefined;
}

/** The rows as they should be. A row that is deleted for good is no member. */
class Model {
  rows: Row[] = [];

  isTaken(kind: Kind, name: string): boolean {
    return (
      kind !== "reply" && this.rows.some((row) => row.kind === kind && row.name === name && !row.deletedWith)
    );
  }

  /** @returns the status of the response */
  delete(row: Row): number {
    if (row.deletedWith || !this.rows.includes(row)) return 404;
    if (this.rows.some((each) => each.label === row && !each.deletedWith)) return 409;
    if (row.kind === "pin") this.rows = this.rows.filter((each) => each !== row);
    row.deletedWith = row;
    for (const each of this.rows) if (each.topic === row) each.deletedWith ??= row;
    return 204;
  }

  restore(row: Row): number {
    if (row.kind === "pin" || !row.deletedWith || row.topic?.deletedWith) return 404;
    const restored = this.rows.filter((each) => each.deletedWith === row);
    if (row.label?.deletedWith) return 409;
    if (restored.some(({ kind, name }) => this.isTaken(kind, name))) return 409;
    for (const each of restored) each.deletedWith = undefined;
    return 201;
  }
}

const anyCommand = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      action: fc.constant("create" as const),
      kind: fc.constantFrom(...kinds, "topic" as const),
      name: fc.nat(2),
      topic: fc.nat(5),
      label: fc.option(fc.nat(2)),
    }),
  },
  { weight: 2, arbitrary: fc.record({ action: fc.constant("delete" as const), row: fc.nat(30) }) },
  { weight: 2, arbitrary: fc.record({ action: fc.constant("restore" as const), row: fc.nat(30) }) },
);
type Command = typeof anyCommand extends fc.Arbitrary<infer Value> ? Value : never;

const paths: Readonly<Record<Kind, string>> = {
  label: "/labels",
  topic: "/topics",
  reply: "/replies",
  pin: "/pins",
};

/** Runs a command on the server and in the model, and compares the statuses. */
async function run(server: TestServer, model: Model, board: string, command: Command): Promise<void> {
  if (command.action !== "create") {
    const row = model.rows[command.row % model.rows.length];
    if (!row) return;
    const path = `${paths[row.kind]}/${row.id}`;
    const { status } =
      command.action === "delete"
        ? await server.request(path, { method: "DELETE" })
        : await server.request(`${path}/restorations`, { method: "POST" });
    assert.equal(status, model[command.action](row), `${command.action} ${path}`);
    return;
  }
  const { kind, name } = command;
  const of = (wanted: Kind, index: number): Row | undefined => {
    const all = model.rows.filter((row) => row.kind === wanted);
    return all[index % all.length];
  };
  const topic = kind === "reply" || kind === "pin" ? of("topic", command.topic) : undefined;
  const label = kind === "topic" && command.label !== null ? of("label", command.label) : undefined;
  if ((kind === "reply" || kind === "pin") && !topic) return;
  const unique = `${board}-${name}`.slice(-40);
  const bodies = {
    label: { name: unique },
    topic: { title: "Topic", slug: unique, labelId: label?.id ?? null },
    reply: { body: unique },
    pin: { name: unique, topicId: topic?.id },
  };
  const path = { ...paths, topic: `/boards/${board}/topics`, reply: `/topics/${topic?.id}/replies` }[kind];
  const { status, body, text } = await server.request(path, { body: bodies[kind] });
  const statuses = [
    ...(kind === "reply" && topic!.deletedWith ? [404] : []),
    ...(kind === "pin" && topic!.deletedWith ? [422] : []),
    ...(label?.deletedWith ? [422] : []),
    ...(model.isTaken(kind, unique) ? [409] : []),
  ];
  assert.ok(statuses.length === 0 ? status === 201 : statuses.includes(status), `${path}: ${status} ${text}`);
  if (status === 201)
    model.rows.push({ kind, id: body.id, name: unique, topic, label, deletedWith: undefined });
}

/** Compares the lists and the rows of the server with the model. */
async function compare(server: TestServer, model: Model, board: string): Promise<void> {
  const listed = async (path: string): Promise<string[]> => {
    const { status, body, text } = await server.request(path);
    assert.equal(status, 200, text);
    return body.data.map(({ id }: { id: string }) => id).sort();
  };
  const idsOf = (rows: readonly Row[]): string[] => rows.map(({ id }) => id).sort();
  const live = model.rows.filter(({ deletedWith }) => !deletedWith);
  const topics = model.rows.filter(({ kind }) => kind === "topic");
  const collection = `/boards/${board}/topics?limit=100`;
  assert.deepEqual(await listed(collection), idsOf(topics.filter((row) => live.includes(row))));
  assert.deepEqual(await listed(`${collection}&q=topic`), idsOf(topics.filter((row) => live.includes(row))));
  assert.deepEqual(
    await listed(`${collection}&deleted=true`),
    idsOf(topics.filter((row) => !live.includes(row))),
  );
  for (const topic of topics.filter((row) => live.includes(row))) {
    const replies = model.rows.filter((row) => row.kind === "reply" && row.topic === topic);
    const path = `/topics/${topic.id}/replies?limit=100`;
    assert.deepEqual(await listed(path), idsOf(replies.filter((row) => live.includes(row))));
    assert.deepEqual(
      await listed(`${path}&deleted=true`),
      idsOf(replies.filter((row) => !live.includes(row))),
    );
  }
  for (const row of model.rows) {
    const { status } = await server.request(`${paths[row.kind]}/${row.id}`);
    assert.equal(status, live.includes(row) ? 200 : 404, `${row.kind} ${row.id}`);
  }
}

onEachDatabase("random soft deletions", (database) => {
  const server = serve(database, { app: forum });

  test("agree with a plain model", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyCommand, { minLength: 10, maxLength: 30 }), async (commands) => {
        const { id: board } = await server.create("/boards", { name: "Random" });
        const model = new Model();
        for (const command of commands) await run(server, model, board, command);
        await compare(server, model, board);
      }),
      { numRuns: randomRuns(60, 15), endOnFailure: true },
    );
  });
});

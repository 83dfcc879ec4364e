// Policies in subscriptions: the events of a row, and of every row nested under it, are delivered only to
// subscribers who can see it, live and resumed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { subscriptionStarted } from "../../support/graphql/subscriptions.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";
import {
  collectionOf,
  createRows,
  cwd,
  isVisible,
  itemOf,
  makeRow,
  type Row,
  type Tree,
  type TreeRows,
  trees,
  type User,
} from "./policy-tree.ts";

/** Within this time, no event arrives for the writes so far. */
const silenceMs = 200;

onEachDatabase("policies in subscriptions", (database) => {
  let treeRows: TreeRows;
  const server = serve(database, {
    cwd,
    prepare: async (at) => {
      treeRows = await createRows(at);
    },
  });
  const change = async (row: Pick<Row, "resource" | "id">, body: object): Promise<void> => {
    const answer = await server.request(itemOf(row), { method: "PATCH", body });
    assert.equal(answer.status, 200, answer.text);
  };
  const remove = async (row: Row): Promise<void> => {
    const answer = await server.request(itemOf(row), { method: "DELETE" });
    assert.equal(answer.status, 204, answer.text);
  };
  const topOf = (tree: Tree, owner: User): Promise<Row> =>
    makeRow(server, { tree, depth: 0, resource: tree.levels[0], parent: undefined }, owner);
  const under = (parent: Row, owner: User): Promise<Row> => {
    const depth = parent.depth + 1;
    return makeRow(server, { tree: parent.tree, depth, resource: parent.tree.levels[depth]!, parent }, owner);
  };
  const open = (query: string, { key }: User, lastEventId?: string): Promise<TestStream> =>
    TestStream.open(server.portico, query, {
      key,
      extensions: lastEventId === undefined ? {} : { lastEventId },
    });
  const receivedNames = (stream: TestStream): string[] =>
    stream.allResults.map(({ data }) => (Object.values(data)[0] as { name: string }).name);
  /** The id of the newest event. */
  const newest = async (): Promise<string> => {
    const stream = await open("subscription { tagCreated { id } }", treeRows.ann);
    try {
      await subscriptionStarted();
      await server.create("/tags", { name: "now" });
      const [{ extensions }] = await stream.results(1);
      return extensions.eventId;
    } finally {
      stream.close();
    }
  };

  const chain = async (tree: Tree, owner: User): Promise<Row> =>
    under(await under(await topOf(tree, owner), owner), owner);
  /** Asserts the names received, in order; the last of them comes after all events that must not be delivered. */
  const assertReceived = async (stream: TestStream, names: readonly string[]): Promise<void> => {
    await stream.results(names.length);
    assert.deepEqual(receivedNames(stream), names);
  };
  const assertResumed = async (
    query: string,
    user: User,
    since: string,
    names: readonly string[],
  ): Promise<void> => {
    const stream = await open(query, user, since);
    try {
      await assertReceived(stream, names);
    } finally {
      stream.close();
    }
  };

  for (const tree of trees) {
    const leaf = tree.levels[2];
    test(`events of created, updated and deleted ${leaf}s are delivered to subscribers who can see them`, async () => {
      const { ann, bob } = treeRows;
      const queries = [
        ...["Created", "Updated", "Deleted"].map((kind) => `subscription { ${leaf}${kind} { name } }`),
        ...["Created", "Updated"].map(
          (kind) => `subscription { ${leaf}${kind} { name ${tree.levels[1]} { name } } }`,
        ),
      ];
      const opened = await Promise.all(
        [ann, bob].flatMap((user) =>
          queries.map(async (query) => ({ user, query, stream: await open(query, user) })),
        ),
      );
      try {
        await subscriptionStarted();
        const since = await newest();
        const rows: Row[] = [];
        for (const owner of [ann, bob, ann, bob]) rows.push(await chain(tree, owner));
        for (const row of rows) await change(row, { name: row.name });
        const namesOf = (user: User): string[] =>
          rows.filter((row) => isVisible(row, user)).map(({ name }) => name);
        for (const { user, query, stream } of opened)
          if (!query.includes("Deleted")) await assertReceived(stream, namesOf(user));
        for (const row of rows) await remove(row);
        for (const { user, query, stream } of opened) {
          if (query.includes("Deleted")) await assertReceived(stream, namesOf(user));
          // The same when a subscription is resumed, except for rows that are deleted by then.
          if (!query.includes(tree.levels[1])) await assertResumed(query, user, since, namesOf(user));
        }
      } finally {
        for (const { stream } of opened) stream.close();
      }
    });
  }

  test("events of a row whose parent has a new owner are delivered to that owner only", async () => {
    const { ann, bob } = treeRows;
    const since = await newest();
    const project = await topOf(trees[0]!, ann);
    const note = await under(project, ann);
    const [remaining, removed] = [await under(note, ann), await under(note, ann)];
    await remove(removed);
    await change(project, { ownerId: bob.id });
    const [annsRow, bobsRow] = [await chain(trees[0]!, ann), await chain(trees[0]!, bob)];
    for (const row of [annsRow, bobsRow]) await remove(row);
    const [created, deleted] = ["Created", "Deleted"].map(
      (kind) => `subscription { remark${kind} { name } }`,
    );
    await assertResumed(created!, ann, since, [annsRow.name]);
    await assertResumed(deleted!, ann, since, [annsRow.name]);
    await assertResumed(created!, bob, since, [remaining.name, removed.name, bobsRow.name]);
    await assertResumed(deleted!, bob, since, [removed.name, bobsRow.name]);
  });

  test("events of a row whose parent was deleted later are delivered to nobody", async () => {
    const { ann } = treeRows;
    const since = await newest();
    const project = await topOf(trees[0]!, ann);
    const note = await under(project, ann);
    const [remaining, removed] = [await under(note, ann), await under(note, ann)];
    await remove(removed);
    await remove(note);
    const last = await under(await under(project, ann), ann);
    await remove(last);
    await assertResumed("subscription { remarkCreated { name } }", ann, since, [last.name]);
    // `remaining` was deleted together with its note, which she saw.
    await assertResumed("subscription { remarkDeleted { name } }", ann, since, [remaining.name, last.name]);
    assert.equal((await server.request(itemOf(remaining))).status, 404);
  });

  for (const tree of trees) {
    const [top, , leaf] = tree.levels;
    test(`a deleted ${top} has events of all rows below it, for those who saw them`, async () => {
      const { ann, bob } = treeRows;
      const since = await newest();
      const deleted: Row[] = [];
      for (const topOwner of [ann, bob]) {
        const root = await topOf(tree, topOwner);
        const rows: Row[] = [root];
        for (const middleOwner of [ann, bob]) {
          const middle = await under(root, middleOwner);
          rows.push(middle);
          for (const owner of [ann, bob]) rows.push(await under(middle, owner));
        }
        const opened = await Promise.all(
          [ann, bob].flatMap((user) =>
            tree.levels.map(async (level) => ({
              ...{ user, level },
              stream: await open(`subscription { ${level}Deleted { name } }`, user),
            })),
          ),
        );
        try {
          await subscriptionStarted();
          await remove(root);
          // Follows everything else that is delivered.
          const last = await Promise.all([ann, bob].map((user) => chain(tree, user)));
          for (const each of last) await remove(each.parent!.parent!);
          rows.push(...last.flatMap((each) => [each, each.parent!, each.parent!.parent!]));
          deleted.push(...rows);
          for (const { user, level, stream } of opened) {
            const visible = rows.filter((row) => row.resource === level && isVisible(row, user));
            await stream.results(visible.length);
            assert.deepEqual(receivedNames(stream).sort(), visible.map(({ name }) => name).sort());
          }
        } finally {
          for (const { stream } of opened) stream.close();
        }
      }
      for (const user of [ann, bob]) {
        const stream = await open(`subscription { ${leaf}Deleted { name } }`, user, since);
        const visible = deleted.filter((row) => row.resource === leaf && isVisible(row, user));
        await stream.results(visible.length);
        assert.deepEqual(receivedNames(stream).sort(), visible.map(({ name }) => name).sort());
        stream.close();
      }
    });
  }

  test("a hidden parent or row in the arguments delivers no events, like an unknown one", async () => {
    const { ann, bob } = treeRows;
    const note = await under(await topOf(trees[0]!, bob), bob);
    const remark = await under(note, bob);
    const queries = [
      `subscription { remarkCreated(noteId: "${note.id}") { name } }`,
      `subscription { remarkUpdated(id: "${remark.id}") { name } }`,
      `subscription { remarkDeleted(id: "${remark.id}") { name } }`,
    ];
    const [annsStreams, bobsStreams] = await Promise.all(
      [ann, bob].map((user) => Promise.all(queries.map((query) => open(query, user)))),
    );
    try {
      await subscriptionStarted();
      await server.create(collectionOf({ resource: "remark", parent: note }), { name: "new" });
      await change(remark, { name: "renamed" });
      await remove(remark);
      for (const stream of bobsStreams!) await stream.results(1);
      await sleep(silenceMs);
      for (const stream of annsStreams!) {
        assert.deepEqual(stream.allResults, []);
        assert.equal(stream.isClosed, false);
      }
    } finally {
      for (const each of [...annsStreams!, ...bobsStreams!]) each.close();
    }
  });

  test("subscribers who can see different rows never share events, including one who can see none", async () => {
    const { ann } = treeRows;
    // An application that acts for itself has no user: an undefined value in its policy matches nothing.
    const { clientId, clientSecret } = await server.create("/v1/oauth-clients", {
      name: "Robot",
      type: "confidential",
      grantTypes: ["client_credentials"],
      scopes: ["projects:read", "notes:read", "remarks:read"],
    });
    const response = await fetch(`${server.url}/oauth/token`, {
      method: "POST",
      headers: { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}` },
      body: new URLSearchParams({ grant_type: "client_credentials" }),
    });
    const { access_token: key } = (await response.json()) as { access_token: string };
    const query = "subscription { remarkCreated { name } }";
    const robot = await open(query, { id: "", key });
    const annsStream = await open(query, ann);
    const all = await TestStream.open(server.portico, query);
    try {
      await subscriptionStarted();
      const remark = await under(await under(await topOf(trees[0]!, ann), ann), ann);
      await Promise.all([annsStream.results(1), all.results(1)]);
      await sleep(silenceMs);
      assert.deepEqual([robot, annsStream, all].map(receivedNames), [[], [remark.name], [remark.name]]);
      const list = await server.request(`/tenants/${treeRows.tenantId}/projects`, { key });
      assert.deepEqual(list.body.data, []);
    } finally {
      for (const each of [robot, annsStream, all]) each.close();
    }
  });

  test("many events at once are delivered to each subscriber as far as they are visible", async () => {
    const { ann, bob } = treeRows;
    const users = [ann, bob];
    const notes = await Promise.all(users.map(async (owner) => under(await topOf(trees[0]!, owner), owner)));
    const since = await newest();
    await Promise.all(
      Array.from({ length: 60 }, (_, index) => {
        const parent = notes[index % 2]!;
        return server.create(collectionOf({ resource: "remark", parent }), { name: `many ${index}` });
      }),
    );
    for (const parent of notes)
      await server.create(collectionOf({ resource: "remark", parent }), { name: "last" });
    for (const [index, user] of users.entries()) {
      // A resumed subscription receives all missed events in one batch.
      const stream = await open("subscription { remarkCreated { name noteId } }", user, since);
      try {
        const results = await stream.results(31);
        assert.equal(results.length, 31);
        assert.equal(results[30].data.remarkCreated.name, "last");
        assert.ok(results.every(({ data }) => data.remarkCreated.noteId === notes[index]!.id));
      } finally {
        stream.close();
      }
    }
  });
});

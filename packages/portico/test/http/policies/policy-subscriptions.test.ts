// Policies in subscriptions: of the events of a row, and of every row that stands under it, only those are told who may
// see it, live and resumed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { subscriptionStarted } from "../../support/graphql/subscriptions.ts";
import { serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";
import {
  collectionOf,
  cwd,
  isVisible,
  itemOf,
  makeRow,
  type Person,
  type Planted,
  plant,
  type Row,
  type Tree,
  trees,
} from "./policy-tree.ts";

/** Nothing comes of what was written, within this time. */
const aWhileMs = 200;

onEachDatabase("policies in subscriptions", (database) => {
  let planted: Planted;
  const served = serve(database, {
    cwd,
    prepare: async (at) => {
      planted = await plant(at);
    },
  });
  const change = async (row: Pick<Row, "resource" | "id">, body: object): Promise<void> => {
    const answer = await served.request(itemOf(row), { method: "PATCH", body });
    assert.equal(answer.status, 200, answer.text);
  };
  const remove = async (row: Row): Promise<void> => {
    const answer = await served.request(itemOf(row), { method: "DELETE" });
    assert.equal(answer.status, 204, answer.text);
  };
  const topOf = (tree: Tree, owner: Person): Promise<Row> =>
    makeRow(served, { tree, depth: 0, resource: tree.levels[0], parent: undefined }, owner);
  const under = (parent: Row, owner: Person): Promise<Row> => {
    const depth = parent.depth + 1;
    return makeRow(served, { tree: parent.tree, depth, resource: parent.tree.levels[depth]!, parent }, owner);
  };
  const open = (query: string, { key }: Person, lastEventId?: number): Promise<TestStream> =>
    TestStream.open(served.portico, query, {
      key,
      extensions: lastEventId === undefined ? {} : { lastEventId },
    });
  const toldNames = (stream: TestStream): string[] =>
    stream.allResults.map(({ data }) => (Object.values(data)[0] as { name: string }).name);
  /** The number of the newest event. */
  const newest = async (): Promise<number> => {
    const stream = await open("subscription { tagCreated { id } }", planted.ann);
    try {
      await subscriptionStarted();
      await served.create("/tags", { name: "now" });
      const [{ extensions }] = await stream.results(1);
      return Number(extensions.eventId);
    } finally {
      stream.close();
    }
  };

  const chain = async (tree: Tree, owner: Person): Promise<Row> =>
    under(await under(await topOf(tree, owner), owner), owner);
  /** Names in the order in which they are told; the last of them comes after everything that must not be. */
  const assertTold = async (stream: TestStream, names: readonly string[]): Promise<void> => {
    await stream.results(names.length);
    assert.deepEqual(toldNames(stream), names);
  };
  const assertResumed = async (
    query: string,
    person: Person,
    since: number,
    names: readonly string[],
  ): Promise<void> => {
    const stream = await open(query, person, since);
    try {
      await assertTold(stream, names);
    } finally {
      stream.close();
    }
  };

  for (const tree of trees) {
    const leaf = tree.levels[2];
    test(`${leaf}s that are created, updated and removed are told of where they are visible`, async () => {
      const { ann, bob } = planted;
      const queries = [
        ...["Created", "Updated", "Deleted"].map((kind) => `subscription { ${leaf}${kind} { name } }`),
        ...["Created", "Updated"].map(
          (kind) => `subscription { ${leaf}${kind} { name ${tree.levels[1]} { name } } }`,
        ),
      ];
      const opened = await Promise.all(
        [ann, bob].flatMap((person) =>
          queries.map(async (query) => ({ person, query, stream: await open(query, person) })),
        ),
      );
      try {
        await subscriptionStarted();
        const since = await newest();
        const rows: Row[] = [];
        for (const owner of [ann, bob, ann, bob]) rows.push(await chain(tree, owner));
        for (const row of rows) await change(row, { name: row.name });
        const namesOf = (person: Person): string[] =>
          rows.filter((row) => isVisible(row, person)).map(({ name }) => name);
        for (const { person, query, stream } of opened)
          if (!query.includes("Deleted")) await assertTold(stream, namesOf(person));
        for (const row of rows) await remove(row);
        for (const { person, query, stream } of opened) {
          if (query.includes("Deleted")) await assertTold(stream, namesOf(person));
          // The same to whoever comes back later, but for rows that are gone by then.
          if (!query.includes(tree.levels[1])) await assertResumed(query, person, since, namesOf(person));
        }
      } finally {
        for (const { stream } of opened) stream.close();
      }
    });
  }

  test("events of a row whose parent was given to somebody else are told to that one alone", async () => {
    const { ann, bob } = planted;
    const since = await newest();
    const project = await topOf(trees[0]!, ann);
    const note = await under(project, ann);
    const [kept, removed] = [await under(note, ann), await under(note, ann)];
    await remove(removed);
    await change(project, { ownerId: bob.id });
    const [hers, his] = [await chain(trees[0]!, ann), await chain(trees[0]!, bob)];
    for (const row of [hers, his]) await remove(row);
    const [created, deleted] = ["Created", "Deleted"].map(
      (kind) => `subscription { remark${kind} { name } }`,
    );
    await assertResumed(created!, ann, since, [hers.name]);
    await assertResumed(deleted!, ann, since, [hers.name]);
    await assertResumed(created!, bob, since, [kept.name, removed.name, his.name]);
    await assertResumed(deleted!, bob, since, [removed.name, his.name]);
  });

  test("events of a row whose parent is gone are told to nobody", async () => {
    const { ann } = planted;
    const since = await newest();
    const project = await topOf(trees[0]!, ann);
    const note = await under(project, ann);
    const [kept, removed] = [await under(note, ann), await under(note, ann)];
    await remove(removed);
    await remove(note);
    const last = await under(await under(project, ann), ann);
    await remove(last);
    for (const kind of ["Created", "Deleted"])
      await assertResumed(`subscription { remark${kind} { name } }`, ann, since, [last.name]);
    assert.equal((await served.request(itemOf(kept))).status, 404);
  });

  test("a hidden parent or row in the arguments is as silent as an unknown one", async () => {
    const { ann, bob } = planted;
    const note = await under(await topOf(trees[0]!, bob), bob);
    const remark = await under(note, bob);
    const queries = [
      `subscription { remarkCreated(noteId: "${note.id}") { name } }`,
      `subscription { remarkUpdated(id: "${remark.id}") { name } }`,
      `subscription { remarkDeleted(id: "${remark.id}") { name } }`,
    ];
    const [hers, his] = await Promise.all(
      [ann, bob].map((person) => Promise.all(queries.map((query) => open(query, person)))),
    );
    try {
      await subscriptionStarted();
      await served.create(collectionOf({ resource: "remark", parent: note }), { name: "new" });
      await change(remark, { name: "renamed" });
      await remove(remark);
      for (const stream of his!) await stream.results(1);
      await sleep(aWhileMs);
      for (const stream of hers!) {
        assert.deepEqual(stream.allResults, []);
        assert.equal(stream.isClosed, false);
      }
    } finally {
      for (const each of [...hers!, ...his!]) each.close();
    }
  });

  test("two who may see different rows never share what they are told, one without any among them", async () => {
    const { ann } = planted;
    // An application of its own has no user: what is undefined in its policy matches nothing.
    const { clientId, clientSecret } = await served.create("/v1/oauth-clients", {
      name: "Robot",
      type: "confidential",
      grantTypes: ["client_credentials"],
      scopes: ["projects:read", "notes:read", "remarks:read"],
    });
    const response = await fetch(`${served.url}/oauth/token`, {
      method: "POST",
      headers: { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}` },
      body: new URLSearchParams({ grant_type: "client_credentials" }),
    });
    const { access_token: key } = (await response.json()) as { access_token: string };
    const query = "subscription { remarkCreated { name } }";
    const robot = await open(query, { id: "", key });
    const hers = await open(query, ann);
    const all = await TestStream.open(served.portico, query);
    try {
      await subscriptionStarted();
      const remark = await under(await under(await topOf(trees[0]!, ann), ann), ann);
      await Promise.all([hers.results(1), all.results(1)]);
      await sleep(aWhileMs);
      assert.deepEqual([robot, hers, all].map(toldNames), [[], [remark.name], [remark.name]]);
      const list = await served.request(`/tenants/${planted.tenantId}/projects`, { key });
      assert.deepEqual(list.body.data, []);
    } finally {
      for (const each of [robot, hers, all]) each.close();
    }
  });

  test("many events at once are told to each as far as they are visible", async () => {
    const { ann, bob } = planted;
    const people = [ann, bob];
    const notes = await Promise.all(people.map(async (owner) => under(await topOf(trees[0]!, owner), owner)));
    const since = await newest();
    await Promise.all(
      Array.from({ length: 60 }, (_, index) => {
        const parent = notes[index % 2]!;
        return served.create(collectionOf({ resource: "remark", parent }), { name: `many ${index}` });
      }),
    );
    for (const parent of notes)
      await served.create(collectionOf({ resource: "remark", parent }), { name: "last" });
    for (const [index, person] of people.entries()) {
      // Whoever comes back is told what was missed in one piece.
      const stream = await open("subscription { remarkCreated { name noteId } }", person, since);
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

// The deletion of a row that callers saw because of rows that are deleted with it, such as a project because of its
// members: its event is delivered to those who saw it until then, live and resumed, and to nobody else.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { app, belongsTo, createServer, resource, type Server, text, users } from "../../../src/index.ts";
import { TestStream } from "../../support/graphql/event-stream.ts";
import { subscriptionStarted } from "../../support/graphql/subscriptions.ts";
import { makeWorkspace, onEachDatabase, type Workspace } from "../../support/server.ts";

const projects = resource("project", {
  fields: { name: text({ max: 50 }) },
  policy: ({ caller: { role, userId } }) => role === "owner" || { members: { some: { userId } } },
});
const members = resource("member", { parent: projects, fields: { user: belongsTo(() => users) } });
const issues = resource("issue", { parent: projects, fields: { name: text({ max: 50 }) } });
/** Clubs are deleted with their seats, which refer to them without being children. */
const clubs = resource("club", {
  fields: { name: text({ max: 50 }) },
  policy: ({ caller: { role, userId } }) => role === "owner" || { seats: { some: { userId } } },
});
const seats = resource("seat", {
  fields: { club: belongsTo(() => clubs, { onDelete: "cascade" }), user: belongsTo(() => users) },
  policy: ({ caller: { role, userId } }) => role === "owner" || { club: { seats: { some: { userId } } } },
});
/** Boards are seen by those whom a card mentions first. */
const boards = resource("board", {
  fields: { name: text({ max: 50 }) },
  policy: ({ caller: { role, userId } }) =>
    role === "owner" || { cards: { some: { mentioned: { startsWith: userId } } } },
});
const cards = resource("card", {
  parent: boards,
  fields: { mentioned: text({ max: 1_000 }), notes: text({ max: 50_000, default: "" }) },
});
const declared = app({
  name: "Deletions",
  resources: [projects, members, issues, clubs, seats, boards, cards],
});
const kinds = ["project", "member", "issue", "club", "seat"];

onEachDatabase("events of rows that are deleted together", (database) => {
  let workspace: Workspace;
  let server: Server;
  const keys: Record<string, string> = {};
  const ids: Record<string, string> = {};

  async function request(method: string, path: string, body?: object) {
    const response = await fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${server.sandboxKey}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    assert.ok(response.ok, `${method} ${path}: ${response.status}`);
    // biome-ignore lint/suspicious/noExplicitAny: tests read any member; a missing one makes them fail.
    return response.status === 204 ? undefined : ((await response.json()) as any);
  }
  const make = async (path: string, body: object): Promise<string> => (await request("POST", path, body)).id;

  before(async () => {
    workspace = await makeWorkspace(database);
    const { databaseUrl } = workspace;
    server = await createServer(declared, { databaseUrl, port: 0, log: { write: () => {} } });
    await server.listen();
    const scopes = [...kinds, "board"].map((kind) => `${kind}s:read`);
    for (const name of ["ann", "bob", "eve"]) {
      const id = await make("/users", { name, email: `${name}@test.example` });
      ids[name] = id;
      keys[name] = (await request("POST", "/v1/api-keys", { name, scopes, ownerId: id })).key;
    }
  });
  after(async () => {
    await server?.close();
    await workspace?.remove();
  });

  const open = (name: string, kind: string, lastEventId?: string): Promise<TestStream> =>
    TestStream.open({ url: server.url, key: keys[name]! }, `subscription { ${kind}Deleted { id } }`, {
      key: keys[name]!,
      extensions: lastEventId === undefined ? {} : { lastEventId },
    });
  const received = (stream: TestStream): string[] =>
    stream.allResults.map(({ data }) => (Object.values(data)[0] as { id: string }).id).sort();

  test("those who saw the rows receive their events, and those who were members before do not", async () => {
    const makeProject = async (name: string) => {
      const project = await make("/projects", { name });
      const ofBob = await make(`/projects/${project}/members`, { userId: ids.bob });
      const ofAnn = await make(`/projects/${project}/members`, { userId: ids.ann });
      const issue = await make(`/projects/${project}/issues`, { name });
      const club = await make("/clubs", { name });
      const [seat, lost] = [
        await make("/seats", { clubId: club, userId: ids.ann }),
        await make("/seats", { clubId: club, userId: ids.bob }),
      ];
      await request("DELETE", `/members/${ofBob}`);
      await request("DELETE", `/seats/${lost}`);
      return { project, member: ofAnn, issue, club, seat };
    };
    const first = await makeProject("first");
    const second = await makeProject("second");
    const people = ["ann", "bob", "eve"];
    const opened = await Promise.all(
      people.flatMap((name) => kinds.map(async (kind) => ({ name, kind, stream: await open(name, kind) }))),
    );
    try {
      await subscriptionStarted();
      for (const { project, club } of [first, second]) {
        await request("DELETE", `/projects/${project}`);
        await request("DELETE", `/clubs/${club}`);
      }
      for (const { name, kind, stream } of opened.filter((each) => each.name === "ann")) {
        const all = [first, second].map((each) => each[kind as keyof typeof first]).sort();
        const [{ extensions }] = await stream.results(2);
        assert.deepEqual(received(stream), all);
        const resumed = await open(name, kind, extensions.eventId);
        await resumed.results(1);
        assert.deepEqual(received(resumed), [second[kind as keyof typeof second]]);
        resumed.close();
      }
      // A row of their own is the last that they receive, so nothing else came before it.
      for (const name of ["bob", "eve"]) {
        const last = await make("/projects", { name: "last" });
        const member = await make(`/projects/${last}/members`, { userId: ids[name] });
        const issue = await make(`/projects/${last}/issues`, { name: "last" });
        const club = await make("/clubs", { name: "last" });
        const seat = await make("/seats", { clubId: club, userId: ids[name] });
        await request("DELETE", `/projects/${last}`);
        await request("DELETE", `/clubs/${club}`);
        const rows: Record<string, string> = { project: last, member, issue, club, seat };
        for (const { kind, stream } of opened.filter((each) => each.name === name)) {
          await stream.results(1);
          assert.deepEqual(received(stream), [rows[kind]]);
        }
      }
    } finally {
      for (const { stream } of opened) stream.close();
    }
  });

  test("large rows that were deleted together decide as small ones do, without their long texts", async () => {
    const makeBoard = async (texts: readonly object[]): Promise<string> => {
      const board = await make("/boards", { name: "board" });
      for (const each of texts) await make(`/boards/${board}/cards`, each);
      return board;
    };
    const notes = "x".repeat(50_000);
    const ofOthers = Array.from({ length: 20 }, () => ({ mentioned: "nobody", notes }));
    const mentioned = String(ids.ann);
    const large = await makeBoard([{ mentioned, notes }, ...ofOthers]);
    const small = await makeBoard([{ mentioned }]);
    const long = await makeBoard([{ mentioned: mentioned.padEnd(300) }]);
    const last = await makeBoard([...ofOthers, { mentioned }]);
    const stream = await open("ann", "board");
    try {
      await subscriptionStarted();
      for (const board of [large, small, long, last]) await request("DELETE", `/boards/${board}`);
      await stream.results(3);
      assert.deepEqual(received(stream), [large, small, last].sort());
    } finally {
      stream.close();
    }
  });
});

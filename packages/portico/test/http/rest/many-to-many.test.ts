// Many-to-many fields: sets of ids in rows, whose rows can be selected, filtered by and deleted.

import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { dataOf } from "../../support/graphql/request.ts";
import { expectAnswer, makeTenant, runCommand, serve, type Tenant } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

const cwd = resolve(import.meta.dirname, "../../fixtures/labelled");

onEachDatabase("many-to-many fields", (database) => {
  let path: string;
  let member: string;
  let other: Tenant;
  const server = serve(database, {
    cwd,
    prepare: async (at) => {
      path = `/projects/${(await at.create("/projects", { name: "One" })).id}/issues`;
      other = await makeTenant(at.workspace, "labels:read,labels:write,drafts:write", { cwd });
      const words = ["--email", "m@example.com", "--name", "M", "--password", "correct horse"];
      const run = (...command: string[]) => runCommand(at.workspace, command, { cwd });
      const { user } = await run("user", "create", ...words, "--role", "member");
      const scopes = "issues:read,issues:write,labels:read,notes:read,people:read,projects:read";
      member = (await run("key", "create", "--name", "M", "--user", user.id, "--scopes", scopes)).key;
    },
  });
  const label = async (name: string, isSecret = "no"): Promise<string> =>
    (await server.create("/labels", { name, isSecret })).id;
  const titles = async (query: string, key?: string): Promise<string[]> => {
    const answer = await server.request(`${path}?${query}`, { ...(key && { key }) });
    equal(answer.status, 200, answer.text);
    return answer.body.data.map(({ title }: { title: string }) => title);
  };

  test("a row has the ids as a sorted set, empty by default, which a change replaces", async () => {
    const [a, b] = [await label("a"), await label("b")];
    const plain = await server.create(path, { title: "Plain" });
    deepEqual([plain.labelIds, plain.personIds], [[], []]);
    const { id } = await server.create(path, { title: "Both", labelIds: [b, a] });
    const first = await server.request(`/issues/${id}`);
    deepEqual(first.body.labelIds, [a, b]);
    const patched = await server.request(`/issues/${id}`, { method: "PATCH", body: { labelIds: [b] } });
    deepEqual(patched.body.labelIds, [b]);
    notEqual(patched.headers.get("etag"), first.headers.get("etag"));
    const put = await server.request(`/issues/${id}`, { method: "PUT", body: { title: "Both" } });
    deepEqual(put.body.labelIds, []);
  });

  test("the rows can be selected, over REST and GraphQL, without those that a policy hides", async () => {
    const ids = [await label("c"), await label("hidden", "yes"), await label("d")];
    const { id } = await server.create(path, { title: "Selected", labelIds: ids });
    const selected = `/issues/${id}?fields=title,labels.name`;
    const named = (names: string[]) =>
      names.map((name) => ({ id: ids[["c", "hidden", "d"].indexOf(name)], name }));
    const whole = await server.request(selected);
    deepEqual(whole.body, { id, title: "Selected", labels: named(["c", "hidden", "d"]) });
    const visible = await server.request(selected, { key: member });
    deepEqual(visible.body.labels, named(["c", "d"]));
    const page = await server.request(`${path}?fields=labels.name&labelIds=${ids[0]}`, { key: member });
    deepEqual(page.body.data, [{ id, labels: named(["c", "d"]) }]);
    const query = `{ issue(id: "${id}") { labelIds labels { name } first: labels(first: 1) { name } people { name } } }`;
    const data = await dataOf(server, query, { key: member });
    deepEqual(data.issue, {
      ...{ labelIds: ids, labels: [{ name: "c" }, { name: "d" }], first: [{ name: "c" }], people: [] },
    });
  });

  test("rows are found by an id, and by fields of the rows", async () => {
    const [e, f] = [await label("e"), await label("f")];
    for (const [title, labelIds] of [
      ["E", [e]],
      ["F", [f]],
      ["EF", [e, f]],
    ] as const)
      await server.create(path, { title, labelIds });
    deepEqual(await titles(`labelIds=${e}`), ["EF", "E"]);
    deepEqual(await titles(`labelIds=${e}&labelIds=${f}`), ["EF", "F", "E"]);
    deepEqual(await titles(`labelIds=${e}&sort=title`), ["E", "EF"]);
    deepEqual(await titles(`labelIds=${e}&labelIds[ne]=${f}`), ["E"]);
    deepEqual(await titles("labels.name=e"), ["EF", "E"]);
    deepEqual(await titles("labels.name=e&sort=title"), ["E", "EF"]);
    deepEqual(await titles("labels.name=none"), []);
    deepEqual(await titles("labelIds=none"), []);
    const project = path.split("/")[2];
    const query = `{ issuesConnection(projectId: "${project}", filter: { labels: { some: { name: "e" }, none: { name: "f" } } }) { edges { node { title } } } }`;
    deepEqual((await dataOf(server, query)).issuesConnection.edges, [{ node: { title: "E" } }]);
    const hidden = await label("g", "yes");
    await server.create(path, { title: "G", labelIds: [hidden] });
    deepEqual(await titles("labels.name=g"), ["G"]);
    deepEqual(await titles("labels.name=g", member), []);
  });

  test("a policy by the rows holds for rows, lists and subscriptions alike", async () => {
    const [open, closed] = [await label("public"), await label("closed")];
    const shown = await server.create("/notes", { title: "Shown", labelIds: [open] });
    const hidden = await server.create("/notes", { title: "Hidden", labelIds: [closed] });
    const list = await server.request("/notes", { key: member });
    deepEqual(
      list.body.data.map(({ id }: { id: string }) => id),
      [shown.id],
    );
    equal((await server.request(`/notes/${hidden.id}`, { key: member })).status, 404);
    equal((await server.request(`/notes/${shown.id}`, { key: member })).status, 200);
  });

  test("unknown, foreign and hidden ids are refused with one answer; ids that stay are not checked", async () => {
    const theirs = (await server.create("/labels", { name: "theirs" }, { key: other.key })).id;
    const secret = await label("secret", "yes");
    const visible = await label("visible");
    const refused = { status: 422, details: [{ field: "labelIds", issue: "reference" }] } as const;
    const answers = new Set<string>();
    for (const id of [theirs, secret, "label_01m7yn38n1e8ybsbjndws01dj0", "nonsense"]) {
      const answer = await server.request(path, {
        key: member,
        body: { title: "T", labelIds: [visible, id] },
      });
      expectAnswer(answer, refused);
      answers.add(answer.text.replace(/"requestId":"[^"]*"/, ""));
    }
    equal(answers.size, 1, [...answers].join("\n"));
    expectAnswer(await server.request(path, { body: { title: "T", labelIds: [theirs] } }), refused);
    const { id } = await server.create(path, { title: "Kept", labelIds: [secret] });
    const kept = await server.request(`/issues/${id}`, {
      ...{ method: "PATCH", key: member, body: { labelIds: [secret, visible] } },
    });
    deepEqual([kept.status, kept.body.labelIds], [200, [secret, visible].sort()]);
    const changed = await server.request(`/issues/${id}`, {
      ...{ method: "PATCH", key: member, body: { labelIds: [visible] } },
    });
    equal(changed.status, 200);
    const again = await server.request(`/issues/${id}`, {
      ...{ method: "PATCH", key: member, body: { labelIds: [visible, secret] } },
    });
    expectAnswer(again, refused);
  });

  for (const [title, ids, issue] of [
    ["a repeated id", ["x", "x"], "duplicate"],
    ["too many ids", ["1", "2", "3", "4"], "max"],
    ["null", null, "type"],
    ["no list", "x", "type"],
  ] as const)
    test(`${title} is refused`, async () => {
      const answer = await server.request(path, { body: { title: "T", personIds: ids } });
      expectAnswer(answer, { status: 422, details: [{ field: "personIds", issue }] });
    });

  test("a deleted row is taken off the others, with an event for each", async () => {
    const [gone, stays] = [await label("gone"), await label("stays")];
    const { id } = await server.create(path, { title: "Labelled", labelIds: [gone, stays] });
    const before = await server.request(`/issues/${id}`);
    equal((await server.request(`/labels/${gone}`, { method: "DELETE" })).status, 204);
    const row = await server.request(`/issues/${id}`);
    deepEqual(row.body.labelIds, [stays]);
    ok(row.body.updatedAt >= before.body.updatedAt);
    notEqual(row.headers.get("etag"), before.headers.get("etag"));
    const { body } = await server.request(`/v1/events?type=issue.updated&resourceId=${id}`);
    deepEqual(body.data[0].data.labelIds, [stays]);
    deepEqual(await titles(`labelIds=${gone}`), []);
  });

  test("a row that may not be taken off others cannot be deleted", async () => {
    const { id: person } = await server.create("/people", { name: "Ada" });
    const { id } = await server.create(path, { title: "Hers", personIds: [person] });
    expectAnswer(await server.request(`/people/${person}`, { method: "DELETE" }), { status: 409 });
    await server.request(`/issues/${id}`, { method: "DELETE" });
    equal((await server.request(`/people/${person}`, { method: "DELETE" })).status, 204);
  });

  test("a restored row has the ids whose rows still exist", async () => {
    const [gone, stays] = [await label("once"), await label("always")];
    const friend = await server.create("/drafts", { title: "Friend" });
    const body = { title: "Draft", labelIds: [gone, stays], relatedIds: [friend.id] };
    const { id } = await server.create("/drafts", body);
    const found = async (): Promise<number> =>
      (await server.request(`/drafts?labelIds=${stays}`)).body.data.length;
    equal((await server.request(`/drafts/${id}`, { method: "DELETE" })).status, 204);
    equal(await found(), 0);
    const deleted = await server.request(`/drafts?deleted=true&labelIds=${stays}&fields=labels.name`);
    deepEqual(deleted.body.data[0].labels, [
      { id: gone, name: "once" },
      { id: stays, name: "always" },
    ]);
    equal((await server.request(`/labels/${gone}`, { method: "DELETE" })).status, 204);
    const restored = await server.request(`/drafts/${id}/restorations`, { method: "POST" });
    equal(restored.status, 201, restored.text);
    deepEqual([restored.body.labelIds, restored.body.relatedIds], [[stays], [friend.id]]);
    equal(await found(), 1);
    equal((await server.request(`/drafts/${friend.id}`, { method: "DELETE" })).status, 204);
    deepEqual((await server.request(`/drafts/${id}`)).body.relatedIds, []);
  });

  test("labels and rows can be written at once", async () => {
    const rounds = Array.from({ length: 8 }, async (_, round) => {
      const id = await label(`round ${round}`);
      const [created, deleted] = await Promise.all([
        Promise.all(
          Array.from({ length: 4 }, () => server.request(path, { body: { title: "Race", labelIds: [id] } })),
        ),
        server.request(`/labels/${id}`, { method: "DELETE" }),
      ]);
      equal(deleted.status, 204, deleted.text);
      for (const { status, text: answer } of created) ok(status === 201 || status === 422, answer);
      deepEqual(await titles(`labelIds=${id}`), []);
    });
    await Promise.all(rounds);
  });

  test("a tenant is deleted with its labels, and with the rows that have them", async () => {
    const { key, id: tenantId } = other;
    const { id } = await server.create("/labels", { name: "theirs" }, { key });
    for (const title of ["One", "Two"]) await server.create("/drafts", { title, labelIds: [id] }, { key });
    const words = ["tenant", "delete", tenantId, "--confirm", "Another"];
    const { deletedRows } = await runCommand(server.workspace, words, { cwd });
    ok(deletedRows > 3);
    equal((await server.request("/labels", { key })).status, 401);
  });
});

// The client against a server: rows, pages, fields, nested collections, actions, errors.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Client, createClient, PorticoError } from "portico/client";
import tracker from "../../../../examples/tracker/portico.config.ts";
import { makeWorkspace, onEachDatabase, Portico } from "../support/server.ts";

onEachDatabase("client", (database) => {
  let server: Portico;
  let client: Client<typeof tracker>;
  before(async () => {
    server = await Portico.startApp(await makeWorkspace(database), tracker);
    client = createClient<typeof tracker>({ baseUrl: server.url, credential: server.key });
  });
  after(async () => {
    await server.stop();
    await server.workspace.remove();
  });

  test("rows are created, read, changed, replaced and deleted", async () => {
    const created = await client.projects.create({ name: "Apollo", budget: "12.5" });
    assert.equal(created.budget, "12.50");
    assert.deepEqual(await client.projects.get(created.id), created);
    const narrow = await client.projects.get(created.id, { fields: ["name", "allIssues"] });
    assert.deepEqual(narrow, { id: created.id, name: "Apollo", allIssues: 0 });
    assert.equal((await client.projects.update(created.id, { isPublic: true })).isPublic, true);
    assert.equal((await client.projects.replace(created.id, { name: "Gemini" })).isPublic, false);
    assert.equal(await client.projects.delete(created.id), undefined);
    await assert.rejects(client.projects.get(created.id), { status: 404, code: "not_found" });
  });

  test("all() reads every page, and filters have operators", async () => {
    const project = await client.projects.create({ name: "Pages" });
    const bug = await client.labels.create({ name: `bug, "${database}" & more`, colour: "red" });
    const { issues } = client.projects(project.id);
    const priorities = ["low", "normal", "high"] as const;
    for (let index = 0; index < 7; index += 1)
      await issues.create({
        title: `Issue ${index}`,
        priority: priorities[index % 3]!,
        labelIds: index === 4 ? [bug.id] : [],
        dueOn: index < 5 ? `2026-12-0${index + 1}` : null,
      });
    const titles = async (query: Parameters<typeof issues.list>[0]): Promise<string[]> => {
      const found: string[] = [];
      for await (const { title } of issues.all({ sort: "createdAt", limit: 2, ...query }))
        found.push(title.slice(-1));
      return found;
    };
    assert.equal((await titles({})).join(""), "0123456");
    assert.equal((await titles({ priority: { gte: "normal" } })).join(""), "1245");
    assert.equal((await titles({ priority: ["low", "high"] })).join(""), "02356");
    assert.equal((await titles({ priority: { in: ["low"], ne: "high" } })).join(""), "036");
    assert.equal((await titles({ dueOn: null })).join(""), "56");
    assert.equal((await titles({ dueOn: { gt: "2026-12-01", lte: "2026-12-03" } })).join(""), "12");
    assert.equal((await titles({ "labels.name": bug.name })).join(""), "4");
    assert.equal((await titles({ q: "issue 3" })).join(""), "3");
    assert.equal((await titles({ dueOn: undefined, sort: ["-priority", "createdAt"] })).join(""), "2514036");
    await assert.rejects(titles({ priority: [] }), TypeError);
    const page = await issues.list({
      limit: 1,
      fields: ["title", "project.name", "labels.name"],
      "labels.name": bug.name,
    });
    assert.deepEqual(page.data, [
      {
        ...page.data[0]!,
        title: "Issue 4",
        project: { id: project.id, name: "Pages" },
        labels: [{ id: bug.id, name: bug.name }],
      },
    ]);
    const people: string[] = [];
    for await (const { email } of client.users.all({ perPage: 1 })) people.push(email);
    assert.deepEqual(people, ["ada@example.com"]);
  });

  test("actions on rows and collections, deleted rows, routes", async () => {
    const project = await client.projects.create({ name: "Actions" });
    const { issues, milestones } = client.projects(project.id);
    const milestone = await milestones.create({ name: "First" });
    const issue = await issues.create({ title: "One", milestoneId: milestone.id });
    assert.deepEqual(await issues.closings({ milestoneId: milestone.id }), { count: 1 });
    await client.issues.delete(issue.id);
    const { data } = await issues.list({ deleted: true, fields: ["title", "deletedAt"] });
    assert.deepEqual(
      data.map(({ title }) => title),
      ["One"],
    );
    assert.equal((await client.issues.restorations(issue.id)).status, "closed");
    const stats = await client.request("GET /v1/stats", { query: { overdueOn: "2026-12-01" } });
    assert.equal(typeof stats.openIssues, "number");
    assert.deepEqual(
      await client.request("GET /v1/projects/{id}", { parameters: { id: project.id } }),
      await client.projects.get(project.id),
    );
    assert.equal((await client.me()).kind, "key");
  });

  test("an error has the code, the details and the id of the request", async () => {
    const wrong = client.projects.create({ name: "" }, { headers: { "x-request-id": `order-${database}` } });
    await assert.rejects(wrong, (error) => {
      assert.ok(error instanceof PorticoError);
      assert.deepEqual(error.details, [{ field: "name", issue: "min" }]);
      const { status, code, requestId, message } = error;
      assert.deepEqual(
        { status, code, requestId, message },
        {
          status: 422,
          code: "validation_error",
          requestId: `order-${database}`,
          message: "`name` must not be empty.",
        },
      );
      return true;
    });
    const project = await client.projects.create({ name: "Tagged" });
    await assert.rejects(client.projects.update(project.id, { name: "x" }, { ifMatch: '"other"' }), {
      code: "precondition_failed",
    });
    const unreachable = createClient<typeof tracker>({ baseUrl: "http://127.0.0.1:1", maxRetries: 0 });
    await assert.rejects(unreachable.me(), { name: "PorticoError", code: "network_error", status: 0 });
  });

  test("files, exports, imports and the server's own resources", async () => {
    const project = await client.projects.create({ name: "Files" });
    const issue = await client.projects(project.id).issues.create({ title: "With a file" });
    const note = new File(["We agree."], "note.txt", { type: "text/plain;charset=utf-8" });
    const { file } = await client.issues(issue.id).attachments.create({ file: note });
    assert.deepEqual([file.name, file.type, file.size], ["note.txt", "text/plain", 9]);
    assert.equal(await (await fetch(file.url)).text(), "We agree.");

    const imported = await client.labels.import(
      Array.from({ length: 300 }, (_, index) => ({ name: `${database} ${index}` })),
    );
    assert.deepEqual([imported.created, imported.failed], [300, 0]);
    const names = new Set<string>();
    for await (const label of client.labels.export({ fields: ["name"] })) names.add(label.name);
    assert.ok(names.size >= 300);
    for await (const _label of client.labels.export()) break;

    const { key, id } = await client.apiKeys.create({ name: "Reader", scopes: ["projects:read"] });
    const reader = createClient<typeof tracker>({ baseUrl: `${server.url}/`, credential: key });
    assert.deepEqual((await reader.me()).scopes, ["projects:read"]);
    const rotated = await client.apiKeys.rotations(id);
    assert.match(rotated.key, /^sk_test_/);
    await client.apiKeys.delete(id);
    await assert.rejects(reader.me(), { status: 401, code: "invalid_credential" });
    const types = (await client.events.list({ resource: "api_key", sort: "createdAt" })).data.map(
      ({ type }) => type,
    );
    assert.equal(types[0], "api_key.created");
  });
});

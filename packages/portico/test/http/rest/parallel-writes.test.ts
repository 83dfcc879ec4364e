// Concurrent writes: those in the same commit group succeed or fail independently, and of conflicting ones one wins.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openReader } from "../../support/database-reader.ts";
import {
  makeWorkspace,
  onEachDatabase,
  Portico,
  projectFolder,
  type Workspace,
} from "../../support/server.ts";

onEachDatabase("parallel writes", (database) => {
  let workspace: Workspace;
  let portico: Portico;
  before(async () => {
    workspace = await makeWorkspace(database);
    portico = await Portico.start(workspace);
  });
  after(async () => {
    await portico?.stop();
    await workspace?.remove();
  });

  test("of 50 concurrent creates, those with a slug in use are 409 and all others succeed", async () => {
    const slugs = Array.from({ length: 50 }, (_, index) => (index % 5 < 2 ? "shared" : `slug-${index}`));
    const answers = await Promise.all(
      slugs.map((slug) => portico.request("/v1/projects", { body: { name: `Project ${slug}`, slug } })),
    );
    const created = answers.filter(({ status }) => status === 201).map(({ body }) => body);
    const refused = answers.filter(({ status }) => status !== 201);
    assert.deepEqual(created.map(({ slug }) => slug).sort(), [...new Set(slugs)].sort());
    assert.equal(refused.length, 19);
    for (const { status, body } of refused) {
      assert.equal(status, 409);
      assert.equal(body.error.code, "conflict");
      assert.deepEqual(body.error.details, [{ field: "slug", issue: "duplicate" }]);
    }
    const { body: list } = await portico.request("/v1/projects?limit=100");
    const projectsById = new Map(list.data.map((project: { id: string }) => [project.id, project]));
    for (const project of created) assert.deepEqual(projectsById.get(project.id), project);
    assert.equal(list.data.filter(({ slug }: { slug: string }) => slug === "shared").length, 1);
  });

  test("of 20 concurrent updates with the same If-Match, exactly one succeeds", async () => {
    for (let round = 0; round < 5; round++) {
      const created = await portico.request("/posts", { body: { title: "Before" } });
      const path = `/posts/${created.body.id}`;
      const headers = { "if-match": created.headers.get("etag")! };
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          portico.request(path, {
            method: index % 2 ? "PATCH" : "PUT",
            headers,
            body: { title: `Change ${index}` },
          }),
        ),
      );
      const won = answers.filter(({ status }) => status === 200);
      assert.equal(won.length, 1);
      assert.ok(answers.every(({ status }) => status === 200 || status === 412));
      const read = await portico.request(path);
      assert.deepEqual(read.body, won[0]!.body);
      assert.equal(read.headers.get("etag"), won[0]!.headers.get("etag"));
    }
  });

  test("concurrent updates of different fields without If-Match all succeed", async () => {
    const created = await portico.request("/posts", { body: { title: "Before" } });
    const path = `/posts/${created.body.id}`;
    const changes = [{ title: "After" }, { body: "Changed" }, { status: "published" }];
    const answers = await Promise.all(
      changes.map((body) => portico.request(path, { method: "PATCH", body })),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    );
    const { body } = await portico.request(path);
    assert.deepEqual(body, { ...body, ...Object.assign({}, ...changes) });
  });

  test("of 10 concurrent deletes, one finds the row", async () => {
    const created = await portico.request("/posts", { body: { title: "Gone soon" } });
    const path = `/posts/${created.body.id}`;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => portico.request(path, { method: "DELETE" })),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [204, ...Array(9).fill(404)]);
  });
});

onEachDatabase("parallel writes with a failing hook", (database) => {
  test("of 50 concurrent creates, those that a hook refuses after the insert leave neither row nor event", async () => {
    const workspace = await makeWorkspace(database);
    const portico = await Portico.start(workspace, {
      cwd: `${projectFolder}/packages/portico/test/fixtures/library`,
      env: { PORTICO_SECRET: "a".repeat(32) },
    });
    const reader = openReader(workspace.databaseUrl);
    try {
      const names = Array.from({ length: 50 }, (_, index) => (index % 3 === 1 ? "full" : `shelf ${index}`));
      const answers = await Promise.all(names.map((name) => portico.request("/shelves", { body: { name } })));
      for (const [index, { status, body }] of answers.entries()) {
        assert.equal(status, names[index] === "full" ? 409 : 201);
        if (status === 409) assert.equal(body.error.message, "The shelf is full.");
      }
      const stored = names.filter((name) => name !== "full").sort();
      const rows = await reader.rows("select name from shelves");
      assert.deepEqual(rows.map(([name]) => name).sort(), stored);
      const created = "select count(*), count(distinct row_id) from events where kind = 'shelf.created'";
      assert.deepEqual(
        (await reader.rows(created)).map((row) => row.map(Number)),
        [[stored.length, stored.length]],
      );
    } finally {
      await reader.close();
      await portico.stop();
      await workspace.remove();
    }
  });
});

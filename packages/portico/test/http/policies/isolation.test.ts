// Isolation: no search, filter or total reveals another tenant's rows, and unique values are unique per tenant.

import assert from "node:assert/strict";
import { test } from "node:test";
import { expectAnswer, makeTenant, serve, type Tenant } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

interface Owned {
  readonly path: string;
  readonly id: string;
}

onEachDatabase("isolation", (database) => {
  let other: Tenant;
  let rows: readonly Owned[] = [];
  let before = "";
  const lists = ["/posts", "/users", "/v1/projects", "/v1/deployments"];
  const server = serve(database, {
    prepare: async (at) => {
      other = await makeTenant(at.workspace);
      const make = async (path: string, body: object, item = path): Promise<Owned> => {
        const { id } = await at.create(path, body);
        return { path: `${item}/${id}`, id };
      };
      const post = await make("/posts", { title: "Ours" });
      const project = await make("/v1/projects", { name: "Ours" });
      rows = [
        post,
        await make(`/posts/${post.id}/comments`, { body: "Ours" }, "/comments"),
        await make("/users", { name: "Ours", email: "ours@example.com" }),
        project,
        await make("/v1/deployments", { projectId: project.id, ref: "ours" }),
      ];
      before = await allRows();
    },
  });
  const allRows = async (): Promise<string> =>
    JSON.stringify(await Promise.all(rows.map(async ({ path }) => (await server.request(path)).body)));
  const asOther = (path: string, options: object = {}) =>
    server.request(path, { ...options, key: other.key });
  const owned = (segment: string): Owned => rows.find(({ path }) => path.includes(segment))!;

  test("no list contains another tenant's rows, with or without filter and search", async () => {
    for (const path of lists) {
      const { body } = await asOther(path);
      const ids = body.data.map(({ id }: { id: string }) => id);
      assert.deepEqual(ids, path === "/users" ? [other.userId] : [], path);
    }
    assert.equal((await asOther("/users")).body.pagination.total, 1);
    for (const path of [
      "/posts?q=ours",
      "/posts?status=draft&status=published",
      `/posts?authorId=${owned("/users/").id}`,
      "/users?q=ours",
      "/users?email=ours@example.com",
      "/v1/projects?slug=ours",
      `/v1/deployments?projectId=${owned("/projects/").id}`,
    ]) {
      assert.deepEqual((await asOther(path)).body.data, [], path);
    }
  });

  test("a unique value of one tenant is free in another", async () => {
    const created = await asOther("/v1/projects", { body: { name: "Ours" } });
    expectAnswer(created, { status: 201, body: { slug: "ours" } });
    expectAnswer(await asOther("/users", { body: { name: "Ours", email: "ours@example.com" } }), {
      status: 201,
    });
  });

  test("a key of one tenant is not listed for another, and cannot be revoked by it", async () => {
    const { keys } = await server.command("key", "list", "--tenant", other.id);
    assert.deepEqual(
      keys.map(({ name }: { name: string }) => name),
      ["Theirs"],
    );
  });

  test("after these requests, every row is unchanged", async () => {
    assert.equal(await allRows(), before);
  });
});

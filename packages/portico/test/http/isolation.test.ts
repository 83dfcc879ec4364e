// Isolation: another tenant's row is a 404 in every operation, and no reference, filter or list leads to it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { expectAnswer, makeTenant, serve, type Tenant } from "../scenario.ts";
import { onEachDatabase } from "../server.ts";

interface Owned {
  readonly path: string;
  readonly id: string;
  /** A body with which its owner could replace it. */
  readonly body: object;
}

onEachDatabase("isolation", (database) => {
  let theirs: Tenant;
  let rows: readonly Owned[] = [];
  let before = "";
  const lists = ["/posts", "/users", "/v1/projects", "/v1/deployments"];
  const served = serve(database, {
    prepare: async (at) => {
      theirs = await makeTenant(at.place);
      const make = async (path: string, body: object, item = path): Promise<Owned> => {
        const { id } = await at.create(path, body);
        return { path: `${item}/${id}`, id, body };
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
      before = await everything();
    },
  });
  const everything = async (): Promise<string> =>
    JSON.stringify(await Promise.all(rows.map(async ({ path }) => (await served.request(path)).body)));
  const asThem = (path: string, options: object = {}) =>
    served.request(path, { ...options, key: theirs.key });
  const owned = (segment: string): Owned => rows.find(({ path }) => path.includes(segment))!;

  test("every operation on every resource of another tenant is 404, as if there were no such row", async () => {
    for (const { path, id, body } of rows) {
      const missing = path.replace(id, id.replace(/_.*/, "_00000000000000000000000000"));
      for (const options of [
        {},
        { method: "PUT", body },
        { method: "PATCH", body: {} },
        { method: "DELETE" },
        { method: "PUT", body, headers: { "if-match": "*" } },
        { headers: { "if-none-match": "*" } },
      ]) {
        const answer = await asThem(path, options);
        expectAnswer(answer, { status: 404, code: "not_found" });
        assert.equal(answer.text, (await asThem(missing, options)).text);
      }
      assert.equal((await asThem(path, { method: "HEAD" })).status, 404);
    }
  });

  test("the comments below another tenant's post are 404, to read and to write", async () => {
    const path = `${owned("/posts/").path}/comments`;
    expectAnswer(await asThem(path), { status: 404 });
    expectAnswer(await asThem(path, { body: { body: "Theirs" } }), { status: 404 });
  });

  test("no list shows another tenant's rows, with or without filter and search", async () => {
    for (const path of lists) {
      const { body } = await asThem(path);
      const ids = body.data.map(({ id }: { id: string }) => id);
      assert.deepEqual(ids, path === "/users" ? [theirs.userId] : [], path);
    }
    assert.equal((await asThem("/users")).body.pagination.total, 1);
    for (const path of [
      "/posts?q=ours",
      "/posts?status=draft&status=published",
      `/posts?authorId=${owned("/users/").id}`,
      "/users?q=ours",
      "/users?email=ours@example.com",
      "/v1/projects?slug=ours",
      `/v1/deployments?projectId=${owned("/projects/").id}`,
    ]) {
      assert.deepEqual((await asThem(path)).body.data, [], path);
    }
  });

  test("a reference to another tenant's row is refused like one that leads nowhere", async () => {
    const references = [
      ["/posts", { title: "Theirs" }, "authorId", owned("/users/").id],
      ["/v1/deployments", { ref: "theirs" }, "projectId", owned("/projects/").id],
    ] as const;
    for (const [path, body, field, id] of references) {
      const refused = {
        status: 422,
        code: "validation_error",
        details: [{ field, issue: "reference" }],
      } as const;
      const answer = await asThem(path, { body: { ...body, [field]: id } });
      expectAnswer(answer, refused);
      const nowhere = id.replace(/_.*/, "_00000000000000000000000000");
      assert.equal((await asThem(path, { body: { ...body, [field]: nowhere } })).text, answer.text);
    }
    const { id } = await served.create("/posts", { title: "Theirs" }, { key: theirs.key });
    for (const method of ["PUT", "PATCH"]) {
      const body = { title: "Theirs", authorId: owned("/users/").id };
      expectAnswer(await asThem(`/posts/${id}`, { method, body }), {
        status: 422,
        details: [{ field: "authorId", issue: "reference" }],
      });
    }
    await asThem(`/posts/${id}`, { method: "DELETE" });
  });

  test("what is unique in one tenant is free in another", async () => {
    const created = await asThem("/v1/projects", { body: { name: "Ours" } });
    expectAnswer(created, { status: 201, body: { slug: "ours" } });
    expectAnswer(await asThem("/users", { body: { name: "Ours", email: "ours@example.com" } }), {
      status: 201,
    });
  });

  test("a key of one tenant is not listed, and cannot be revoked, for another", async () => {
    const { keys } = await served.command("key", "list", "--tenant", theirs.id);
    assert.deepEqual(
      keys.map(({ name }: { name: string }) => name),
      ["Theirs"],
    );
  });

  test("after all of it, every row is as it was", async () => {
    assert.equal(await everything(), before);
  });
});

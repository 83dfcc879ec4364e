// Projects over HTTP: the slug is derived from the name and is unique in the tenant.

import assert from "node:assert/strict";
import { test } from "node:test";
import { expectAnswer, scenarios, serve } from "../../support/scenario.ts";
import { onEachDatabase } from "../../support/server.ts";

onEachDatabase("projects", (database) => {
  const server = serve(database);
  const project = (body: object) => server.create("/v1/projects", body);

  for (const [name, slug] of [
    ["Website", "website"],
    ["Déjà vu, twice!", "deja-vu-twice"],
    ["  --Trim me--  ", "trim-me"],
    ["日本語", "project-k4lkdordq"],
    ["Version 2.0", "version-2-0"],
  ]) {
    test(`the slug of '${name}' is ${slug}`, async () => {
      assert.equal((await project({ name })).slug, slug);
    });
  }

  test("the slug of a long name is cut at 100 characters and ends in a letter", async () => {
    const { slug } = await project({ name: `${"a".repeat(99)} ${"b".repeat(99)}` });
    assert.equal(slug, "a".repeat(99));
  });

  test("a slug in the request is kept, and can be filtered by", async () => {
    const { id } = await project({ name: "Given", slug: "chosen" });
    const { data } = (await server.request("/v1/projects?slug=chosen")).body;
    assert.deepEqual(
      data.map((each: { id: string }) => each.id),
      [id],
    );
  });

  test("a project is at /v1/projects and, as that is the current version, at /projects", async () => {
    const { id } = await project({ name: "Both paths" });
    expectAnswer(await server.request(`/projects/${id}`), { status: 200, body: { id } });
    expectAnswer(await server.request(`/v1/projects/${id}`), { status: 200, body: { id } });
  });

  test("a second project with the same slug is a conflict that names the field", async () => {
    await project({ name: "Twice" });
    const again = await server.request("/v1/projects", { body: { name: "Twice!" } });
    expectAnswer(again, { status: 409, code: "conflict", details: [{ field: "slug", issue: "duplicate" }] });
  });

  test("PATCH of the name keeps the slug, PUT derives it again", async () => {
    const { id } = await project({ name: "Old name" });
    const renamed = await server.request(`/v1/projects/${id}`, {
      method: "PATCH",
      body: { name: "New name" },
    });
    expectAnswer(renamed, { status: 200, body: { name: "New name", slug: "old-name" } });
    const replaced = await server.request(`/v1/projects/${id}`, { method: "PUT", body: { name: "Third" } });
    expectAnswer(replaced, { status: 200, body: { name: "Third", slug: "third" } });
  });

  test("a project that still has deployments cannot be deleted", async () => {
    const { id } = await project({ name: "Deployed" });
    const deployment = await server.create("/v1/deployments", { projectId: id, ref: "main" });
    const refused = await server.request(`/v1/projects/${id}`, { method: "DELETE" });
    expectAnswer(refused, { status: 409, code: "conflict" });
    await server.request(`/v1/deployments/${deployment.id}`, { method: "DELETE" });
    expectAnswer(await server.request(`/v1/projects/${id}`, { method: "DELETE" }), { status: 204 });
  });

  scenarios(server, [
    {
      fact: "a slug with other characters is refused",
      path: "/v1/projects",
      body: { name: "A", slug: "No Slug" },
      status: 422,
      details: [{ field: "slug", issue: "format" }],
    },
    {
      fact: "the whole slug must match, not one of its lines",
      path: "/v1/projects",
      body: { name: "A", slug: "good\n" },
      status: 422,
      details: [{ field: "slug", issue: "format" }],
    },
    {
      fact: "a project without a name has an error for its name only",
      path: "/v1/projects",
      body: {},
      status: 422,
      details: [{ field: "name", issue: "required" }],
    },
    {
      fact: "a name that is not text is refused, not made into a slug",
      path: "/v1/projects",
      body: { name: { toString: 1 } },
      status: 422,
      details: [{ field: "name", issue: "type" }],
    },
  ]);
});

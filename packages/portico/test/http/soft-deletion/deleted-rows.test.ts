// Rows that were deleted softly, over every protocol: requests about them are answered as about rows that do not exist. Who
// may ask for them is decided by the policies that applied before.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { App } from "../../../src/declare/app.ts";
import organisation from "../../fixtures/organisation/portico.config.ts";
import { makeKey } from "../../support/keys.ts";
import { expectAnswer, makeTenant, serve } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";
import { createRows, type Rows } from "../policies/organisation.ts";
import {
  describe,
  isRefused,
  type RowRequest,
  readsOf,
  requestsAbout,
  send,
  type Target,
} from "../policies/row-requests.ts";

const app: App = {
  ...organisation,
  resources: organisation.resources.map((each) => ({
    ...each,
    declaration: { ...each.declaration, softDelete: each.name !== "membership" },
  })),
};

onEachDatabase("rows that were deleted softly", (database) => {
  let rows: Rows;
  const server = serve(database, {
    app,
    prepare: async (started) => {
      rows = await createRows(started);
      const [referring] = rows.issues;
      const body = { blockerId: null, originId: null };
      expectAnswer(await started.request(`/issues/${referring}`, { method: "PATCH", body }), { status: 200 });
      for (const path of [`/issues/${rows.hidden.secret}`, `/projects/${rows.hidden.project}`])
        expectAnswer(await started.request(path, { method: "DELETE" }), { status: 204 });
    },
  });
  const as = (key: string | null, path: string, method?: string): Promise<Answer> =>
    send(server, { path, ...(method && { method }) }, key);
  const idsIn = (text: string): string[] =>
    [
      ...new Set([...text.matchAll(/"id":"((?:project|issue|membership)_\w+)"/g)].map(([, id]) => id!)),
    ].sort();

  test("reads of an owner have every other row and nothing of a deleted one", async () => {
    const { hidden } = rows;
    const isOfReference = ({ path }: RowRequest): boolean =>
      path.includes(`originId=${hidden.project}`) || path.includes(`blockerId=${hidden.issues[1]}`);
    for (const [request, expected] of readsOf(rows)) {
      // Events say what was deleted.
      if (request.path.startsWith("/v1/events") || isOfReference(request)) continue;
      const answer = await send(server, request, server.portico.key);
      assert.equal(answer.status, 200, `${describe(request)}: ${answer.text}`);
      assert.doesNotMatch(answer.text, /hidden/, describe(request));
      assert.deepEqual(idsIn(answer.text), [...expected].sort(), `${describe(request)}: ${answer.text}`);
      const total = answer.body?.pagination?.total ?? answer.headers.get("total-count");
      if (total !== undefined && total !== null)
        assert.equal(Number(total), expected.length, describe(request));
    }
  });

  test("every request about a deleted row is answered as one about a row that does not exist", async () => {
    const { hidden } = rows;
    const neutral = ({ status, text }: Answer, target: Target): unknown => ({
      status,
      text: Object.values(target).reduce((all, id) => all.replaceAll(id, "ID"), text),
    });
    for (const issue of [...hidden.issues, hidden.secret]) {
      const target: Target = { project: hidden.project, membership: hidden.membership, issue };
      const missing = Object.fromEntries(
        Object.entries(target).map(([name, id]) => [name, id.replace(/[^_]+$/, "0".repeat(26))]),
      ) as unknown as Target;
      const others = requestsAbout(missing, rows);
      for (const [index, request] of requestsAbout(target, rows).entries()) {
        const [answer, other] = [
          await send(server, request, server.portico.key),
          await send(server, others[index]!, server.portico.key),
        ];
        assert.ok(isRefused(answer), `${describe(request)}: ${answer.status} ${answer.text}`);
        assert.deepEqual(neutral(answer, target), neutral(other, missing), describe(request));
      }
    }
    expectAnswer(await as(server.portico.key, `/projects/${hidden.project}?deleted=true`), {
      status: 200,
      body: { name: "hidden plans" },
    });
  });

  test("who may ask for deleted rows, and restore them", async () => {
    const { hidden, bob, project } = rows;
    const paths = [`/projects/${hidden.project}`, `/issues/${hidden.secret}`];
    const scoped = (...scopes: string[]) => makeKey(server, { scopes }).then(({ key }) => key as string);
    const reader = await scoped("projects:read", "issues:read");
    const writer = await scoped("projects:write", "issues:write");
    const publishable = (await makeKey(server, { type: "publishable", scopes: [] })).key as string;
    const other = await makeTenant(server.workspace, "*", { app } as never);
    for (const [name, key, status] of [
      ["a member of another project", bob.key, 404],
      ["a key without the scope for writing", reader, 403],
      ["a key without the scope for reading", writer, 403],
      ["a publishable key", publishable, 403],
      ["another tenant", other.key, 404],
      ["nobody", null, 401],
    ] as const)
      for (const path of paths) {
        const got = await as(key, `${path}?deleted=true`);
        assert.equal(got.status, status, `${name} reads ${path}: ${got.text}`);
        // As for other writes, the scope for writing suffices.
        if (key !== writer) {
          const restored = await as(key, `${path}/restorations`, "POST");
          assert.equal(restored.status, status, `${name} restores ${path}: ${restored.text}`);
        }
        const [, segment] = path.split("/");
        const exported = await as(key, `/v1/exports/${segment}?deleted=true`);
        assert.equal(
          exported.status,
          status === 404 ? 200 : status,
          `${name} exports ${segment}: ${exported.text}`,
        );
        if (status === 404) assert.equal(exported.text, "", name);
        const query = `{ projects(limit: 9, deleted: true) { id } ${path.startsWith("/projects") ? `project(id: "${hidden.project}", deleted: true) { name }` : ""} }`;
        const graphql = await send(server, { path: "/graphql", body: { query } }, key);
        assert.doesNotMatch(graphql.text, /hidden|project_/, `${name}: ${graphql.text}`);
      }
    const ofOwnerExport = await as(
      server.portico.key,
      "/v1/exports/issues?deleted=true&sort=title&fields=title,deletedAt",
    );
    assert.match(ofOwnerExport.text, /hidden secret","deletedAt":"20/);
    assert.doesNotMatch(ofOwnerExport.text, /hidden first/);
    // The right to see the visible project comes from a row that is deleted with it.
    expectAnswer(await as(bob.key, `/projects/${project}`, "DELETE"), { status: 204 });
    assert.deepEqual(idsIn((await as(bob.key, "/projects?deleted=true")).text), [project]);
    const all = [project, hidden.project].sort();
    const ofOwner = await as(server.portico.key, "/projects?deleted=true&sort=-deletedAt");
    assert.deepEqual(idsIn(ofOwner.text), all);
    assert.equal(ofOwner.body.pagination.total, 2);
    expectAnswer(await as(bob.key, `/projects/${project}/restorations`, "POST"), { status: 201 });
    expectAnswer(await as(bob.key, `/projects/${project}`), { status: 200 });
    // Somebody who was no longer a member when the project was deleted.
    expectAnswer(await as(server.portico.key, `/memberships/${rows.membership}`, "DELETE"), { status: 204 });
    expectAnswer(await as(server.portico.key, `/projects/${project}`, "DELETE"), { status: 204 });
    assert.deepEqual(idsIn((await as(bob.key, "/projects?deleted=true")).text), []);
    expectAnswer(await as(bob.key, `/projects/${project}/restorations`, "POST"), { status: 404 });
    expectAnswer(await as(server.portico.key, `/projects/${project}/restorations`, "POST"), { status: 201 });
    expectAnswer(await as(bob.key, `/projects/${project}`), { status: 404 });
  });
});

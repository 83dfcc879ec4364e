// A caller can set references to visible rows only: a hidden row has exactly the same response as one that does not
// exist.

import assert from "node:assert/strict";
import { test } from "node:test";
import { dataOf, requestGraphql } from "../../support/graphql/request.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { type Answer, onEachDatabase, type RequestOptions } from "../../support/server.ts";
import { createRows, cwd, isVisible, itemOf, type Row, type TreeRows, unknown } from "./policy-tree.ts";

/** A write with a reference to a row. */
interface Write {
  readonly name: string;
  readonly send: (reference: object, tagId: string) => { readonly path: string } & RequestOptions;
  readonly status: number;
  /** Errors in addition to that of the reference. */
  readonly more?: readonly object[];
}

const unknownUserId = `user_${"0".repeat(26)}`;

const writes: readonly Write[] = [
  {
    name: "POST",
    send: (reference) => ({ path: "/tags", body: { name: "made", ...reference } }),
    status: 201,
  },
  {
    name: "POST of a row whose unique value is in use",
    send: (reference) => ({ path: "/tags", body: { name: "made", code: "taken", ...reference } }),
    status: 409,
  },
  {
    name: "POST of a row with another, unknown reference",
    send: (reference) => ({ path: "/tags", body: { name: "made", friendId: unknownUserId, ...reference } }),
    status: 422,
    more: [{ field: "friendId", issue: "reference" }],
  },
  {
    name: "POST of a row with another error",
    send: (reference) => ({ path: "/tags", body: { name: 5, ...reference } }),
    status: 422,
    more: [{ field: "name", issue: "type" }],
  },
  {
    name: "PUT",
    send: (reference, id) => ({ path: `/tags/${id}`, method: "PUT", body: { name: "tag", ...reference } }),
    status: 200,
  },
  {
    name: "PATCH",
    send: (reference, id) => ({ path: `/tags/${id}`, method: "PATCH", body: reference }),
    status: 200,
  },
  {
    name: "PATCH with another error",
    send: (reference, id) => ({ path: `/tags/${id}`, method: "PATCH", body: { rank: 10, ...reference } }),
    status: 422,
    more: [{ field: "rank", issue: "max" }],
  },
];

onEachDatabase("references to hidden rows", (database) => {
  let treeRows: TreeRows;
  const server = serve(database, {
    cwd,
    prepare: async (at) => {
      treeRows = await createRows(at);
      await at.create("/tags", { name: "first", code: "taken" });
    },
  });
  const ofResource = (resource: string): readonly Row[] =>
    treeRows.rows.filter((row) => row.resource === resource);
  const asAnn = (path: string, options: RequestOptions = {}): Promise<Answer> =>
    server.request(path, { key: treeRows.ann.key, ...options });
  const rowOf = (resource: string, isShown: boolean): Row =>
    ofResource(resource).find((row) => isVisible(row, treeRows.ann) === isShown)!;
  const makeTag = async (body: object = {}): Promise<string> =>
    (await server.create("/tags", { name: "tag", ...body })).id;

  for (const { name, send, status, more = [] } of writes) {
    test(`${name} accepts references to visible rows only`, async () => {
      for (const resource of ["project", "note", "remark", "file", "drawer"]) {
        const field = `${resource}Id`;
        const details = [...more, { field, issue: "reference" }] as { field: string; issue: "reference" }[];
        for (const row of ofResource(resource)) {
          const id = await makeTag();
          const set = async (to: string): Promise<Answer> => {
            const { path, ...options } = send({ [field]: to }, id);
            return asAnn(path, options);
          };
          const answer = await set(row.id);
          if (isVisible(row, treeRows.ann)) {
            assert.equal(answer.status, status, answer.text);
            continue;
          }
          expectAnswer(answer, { status: 422, code: "validation_error", details });
          for (const missingId of [unknown(row.id), "no id at all"])
            assert.equal((await set(missingId)).text, answer.text);
        }
      }
    });
  }

  test("several references are reported together, hidden or unknown", async () => {
    const [note, remark] = [rowOf("note", false), rowOf("remark", false)];
    const details = ["noteId", "remarkId"].map((field) => ({ field, issue: "reference" as const }));
    const answer = await asAnn("/tags", {
      body: { name: "made", noteId: note.id, remarkId: unknown(remark.id) },
    });
    expectAnswer(answer, { status: 422, details });
    const other = await asAnn("/tags", {
      body: { name: "made", noteId: unknown(note.id), remarkId: remark.id },
    });
    assert.equal(other.text, answer.text);
  });

  test("an unchanged reference need not be visible, also in a body with an error", async () => {
    const hidden = rowOf("note", false);
    const id = await makeTag({ noteId: hidden.id });
    const path = `/tags/${id}`;
    expectAnswer(await asAnn(path, { method: "PATCH", body: { name: "renamed" } }), { status: 200 });
    expectAnswer(await asAnn(path, { method: "PATCH", body: { name: "again", noteId: hidden.id } }), {
      status: 200,
      body: { noteId: hidden.id },
    });
    expectAnswer(await asAnn(path, { method: "PUT", body: { name: "tag", noteId: hidden.id } }), {
      status: 200,
    });
    expectAnswer(await asAnn(path, { method: "PATCH", body: { rank: 10, noteId: hidden.id } }), {
      status: 422,
      details: [{ field: "rank", issue: "max" }],
    });
    expectAnswer(await asAnn(path, { method: "PATCH", body: { noteId: null } }), { status: 200 });
    expectAnswer(await asAnn(path, { method: "PATCH", body: { noteId: hidden.id } }), {
      status: 422,
      details: [{ field: "noteId", issue: "reference" }],
    });
  });

  test("a missing row is 404 before its references are checked, and If-Match is checked first", async () => {
    const hidden = rowOf("note", false);
    const missing = await asAnn(`/tags/tag_${"0".repeat(26)}`, {
      method: "PATCH",
      body: { noteId: hidden.id },
    });
    expectAnswer(missing, { status: 404 });
    const id = await makeTag();
    for (const noteId of [hidden.id, unknown(hidden.id)]) {
      const options = { method: "PATCH", body: { noteId }, headers: { "if-match": '"other"' } };
      expectAnswer(await asAnn(`/tags/${id}`, options), { status: 412 });
    }
  });

  test("an action accepts no reference to a hidden row", async () => {
    const shown = rowOf("remark", true);
    const act = (nearId: string): Promise<Answer> => asAnn(`${itemOf(shown)}/stamps`, { body: { nearId } });
    const hidden = rowOf("note", false);
    const answer = await act(hidden.id);
    expectAnswer(answer, { status: 422, details: [{ field: "nearId", issue: "reference" }] });
    assert.equal((await act(unknown(hidden.id))).text, answer.text);
    expectAnswer(await act(rowOf("note", true).id), { status: 201 });
    const stamps = (await asAnn(itemOf(shown))).body.stamps;
    assert.equal(stamps, 1);
  });

  test("GraphQL has the same responses", async () => {
    const { key } = treeRows.ann;
    const hidden = rowOf("remark", false);
    const id = await makeTag();
    for (const document of [
      'mutation { createTag(input: { name: "made", remarkId: "ID" }) { id } }',
      `mutation { updateTag(id: "${id}", input: { remarkId: "ID" }) { id } }`,
      `mutation { stampRemark(id: "${rowOf("remark", true).id}", input: { nearId: "ID" }) { id } }`,
    ]) {
      const answerFor = async (reference: string): Promise<Answer> =>
        requestGraphql(server, document.replace("ID", reference), { key });
      const answer = await answerFor(hidden.id);
      assert.equal(answer.body.errors[0].extensions.code, "validation_error", answer.text);
      assert.equal(answer.body.errors[0].extensions.details[0].issue, "reference");
      assert.equal((await answerFor(unknown(hidden.id))).text, answer.text);
    }
    const shown = rowOf("remark", true);
    const document = `mutation { createTag(input: { name: "made", remarkId: "${shown.id}" }) { remark { name } } }`;
    assert.equal((await dataOf(server, document, { key })).createTag.remark.name, shown.name);
  });

  test("a hook may set a reference to a row that the caller cannot see", async () => {
    const hidden = rowOf("note", false);
    const created = await asAnn("/tags", { body: { name: `give ${hidden.id}` } });
    expectAnswer(created, { status: 201, body: { noteId: hidden.id } });
    const changed = await asAnn(`/tags/${created.body.id}`, {
      method: "PATCH",
      body: { name: "again", friendId: unknownUserId },
    });
    expectAnswer(changed, { status: 422, details: [{ field: "friendId", issue: "reference" }] });
  });

  test("a child cannot be moved to another parent", async () => {
    const shown = rowOf("remark", true);
    for (const noteId of [rowOf("note", true).id, rowOf("note", false).id])
      expectAnswer(await asAnn(itemOf(shown), { method: "PATCH", body: { noteId } }), {
        status: 422,
        details: [{ field: "noteId", issue: "read_only" }],
      });
  });
});

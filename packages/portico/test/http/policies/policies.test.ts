// Policies, operation by operation: a hidden row responds like one that does not exist, and so does every row nested
// under it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { requestGraphql } from "../../support/graphql/request.ts";
import { expectAnswer, serve } from "../../support/scenario.ts";
import { type Answer, onEachDatabase, type RequestOptions } from "../../support/server.ts";
import {
  createRows,
  cwd,
  isVisible,
  itemOf,
  makeRow,
  type Row,
  type TreeRows,
  trees,
  type User,
  unknown,
} from "./policy-tree.ts";

/** A request about one row. */
interface Operation {
  readonly name: string;
  readonly send: (row: Row) => { readonly path: string } & RequestOptions;
  /** The status if the row is visible. */
  readonly status: number;
}

const fields = (row: Row): object => ({ name: row.name, ownerId: row.ownerId });
const childOf = ({ tree, depth }: Row): string | undefined => tree.levels[depth + 1];

/** Operations that delete rows are tested on hidden rows only. */
const operations: readonly Operation[] = [
  { name: "GET", send: (row) => ({ path: itemOf(row) }), status: 200 },
  { name: "GET of some fields", send: (row) => ({ path: `${itemOf(row)}?fields=name` }), status: 200 },
  { name: "HEAD", send: (row) => ({ path: itemOf(row), method: "HEAD" }), status: 200 },
  {
    name: "GET with If-Match",
    send: (row) => ({ path: itemOf(row), headers: { "if-match": "*" } }),
    status: 200,
  },
  {
    name: "GET with If-None-Match",
    send: (row) => ({ path: itemOf(row), headers: { "if-none-match": "*" } }),
    status: 304,
  },
  {
    name: "PATCH",
    send: (row) => ({ path: itemOf(row), method: "PATCH", body: { name: row.name } }),
    status: 200,
  },
  {
    name: "PATCH with If-Match of another version",
    send: (row) => ({ path: itemOf(row), method: "PATCH", body: {}, headers: { "if-match": '"other"' } }),
    status: 412,
  },
  {
    name: "PATCH with an error",
    send: (row) => ({ path: itemOf(row), method: "PATCH", body: { name: 5 } }),
    status: 422,
  },
  { name: "PUT", send: (row) => ({ path: itemOf(row), method: "PUT", body: fields(row) }), status: 200 },
  {
    name: "DELETE with If-Match of another version",
    send: (row) => ({ path: itemOf(row), method: "DELETE", headers: { "if-match": '"other"' } }),
    status: 412,
  },
  { name: "an action", send: (row) => ({ path: `${itemOf(row)}/stamps`, body: {} }), status: 201 },
];

const removing: Operation = {
  name: "DELETE",
  send: (row) => ({ path: itemOf(row), method: "DELETE" }),
  status: 204,
};

const nestedOperations: readonly Operation[] = [
  { name: "the nested list", send: (row) => ({ path: nestedPathOf(row) }), status: 200 },
  {
    name: "a nested row",
    send: (row) => ({ path: nestedPathOf(row), body: { name: "made below" } }),
    status: 201,
  },
  {
    name: "a nested row with an error",
    send: (row) => ({ path: nestedPathOf(row), body: { name: 5 } }),
    status: 422,
  },
];

function nestedPathOf(row: Row): string {
  return `${itemOf(row)}/${childOf(row)}s`;
}

/** Root fields for one row. */
const documents: readonly {
  readonly name: string;
  readonly of: (row: Row) => string;
  readonly isRemoving?: true;
}[] = [
  { name: "the field of its resource", of: ({ resource, id }) => `{ ${resource}(id: "${id}") { name } }` },
  { name: "node", of: ({ id }) => `{ node(id: "${id}") { id __typename } }` },
  {
    name: "an update",
    of: (row) =>
      `mutation { update${pascal(row)}(id: "${row.id}", input: { name: "${row.name}" }) { name } }`,
  },
  { name: "an action", of: (row) => `mutation { stamp${pascal(row)}(id: "${row.id}", input: {}) { name } }` },
  {
    name: "a delete",
    of: (row) => `mutation { delete${pascal(row)}(id: "${row.id}") { name } }`,
    isRemoving: true,
  },
];

const documentsBelow: readonly { readonly name: string; readonly of: (row: Row) => string }[] = [
  { name: "the nested list", of: (row) => `{ ${childOf(row)}s(${row.resource}Id: "${row.id}") { name } }` },
  {
    name: "a nested page",
    of: (row) => `{ ${childOf(row)}sConnection(${row.resource}Id: "${row.id}") { edges { node { name } } } }`,
  },
  {
    name: "a nested row",
    of: (row) =>
      `mutation { create${pascal({ resource: childOf(row)! })}(input: { ${row.resource}Id: "${row.id}", name: "made" }) { name } }`,
  },
];

function pascal({ resource }: Pick<Row, "resource">): string {
  return resource.charAt(0).toUpperCase() + resource.slice(1);
}

onEachDatabase("policies of parents", (database) => {
  let treeRows: TreeRows;
  const server = serve(database, {
    cwd,
    prepare: async (at) => {
      treeRows = await createRows(at);
    },
  });
  const users = (): readonly User[] => [treeRows.ann, treeRows.bob];
  const send = (operation: Operation, row: Row, { key }: User): Promise<Answer> => {
    const { path, ...options } = operation.send(row);
    return server.request(path, { key, ...options });
  };
  /** Runs a test for each row of a tree with each user. */
  const each = async (
    levels: readonly string[],
    work: (row: Row, user: User, isShown: boolean) => Promise<void>,
  ): Promise<void> => {
    const rows = treeRows.rows.filter(({ resource }) => levels.includes(resource));
    const checks = users().flatMap((user) => rows.map((row) => work(row, user, isVisible(row, user))));
    await Promise.all(checks);
  };

  for (const { title, levels } of trees) {
    for (const operation of [...operations, removing]) {
      test(`${operation.name}, with ${title}`, () =>
        each(levels, async (row, user, isShown) => {
          if (isShown && operation === removing) return;
          const answer = await send(operation, row, user);
          if (isShown) return assert.equal(answer.status, operation.status, answer.text);
          await expectNothing(answer, operation, row, user);
        }));
    }

    for (const operation of nestedOperations) {
      test(`${operation.name}, with ${title}`, () =>
        each(levels.slice(0, 2), async (row, user, isShown) => {
          const answer = await send(operation, row, user);
          if (isShown) return assert.equal(answer.status, operation.status, answer.text);
          await expectNothing(answer, operation, row, user);
        }));
    }

    for (const { name, of, isRemoving } of documents) {
      test(`${name} in GraphQL, with ${title}`, () =>
        each(levels, async (row, { key }, isShown) => {
          if (isShown && isRemoving) return;
          const { body } = await requestGraphql(server, of(row), { key });
          if (isShown) return assert.ok(Object.values(body.data ?? {})[0], JSON.stringify(body));
          const { body: unknownRow } = await requestGraphql(server, of({ ...row, id: unknown(row.id) }), {
            key,
          });
          assert.deepEqual(body, unknownRow);
          assert.ok(!Object.values(body.data ?? {})[0], JSON.stringify(body));
        }));
    }

    for (const { name, of } of documentsBelow) {
      test(`${name} in GraphQL, with ${title}`, () =>
        each(levels.slice(0, 2), async (row, { key }, isShown) => {
          const { body } = await requestGraphql(server, of(row), { key });
          if (isShown) return assert.ok(Object.values(body.data ?? {})[0], JSON.stringify(body));
          const { body: unknownRow } = await requestGraphql(server, of({ ...row, id: unknown(row.id) }), {
            key,
          });
          assert.deepEqual(body, unknownRow);
          assert.equal(body.errors[0].extensions.code, "not_found");
        }));
    }
  }

  /** 404, or the error of the request, with the same text as for an id that does not exist. */
  async function expectNothing(answer: Answer, operation: Operation, row: Row, user: User): Promise<void> {
    const unknownAnswer = await send(operation, { ...row, id: unknown(row.id) }, user);
    assert.equal(answer.text, unknownAnswer.text);
    assert.equal(answer.status, operation.status === 422 ? 422 : 404, answer.text);
    assert.equal(unknownAnswer.status, answer.status);
    assert.equal(answer.headers.get("etag"), null);
  }

  test("deleting a collection under an owner deletes the visible rows only", async () => {
    const { ann, bob, rows } = treeRows;
    const notes = rows.filter(({ resource }) => resource === "note");
    const [annsNote, bobsNote] = [ann, bob].map((user) => notes.find((note) => isVisible(note, user))!);
    const position = { tree: trees[0]!, depth: 2, resource: "remark" };
    const inAnnsNote = await makeRow(server, { ...position, parent: annsNote! }, ann);
    const inBobsNote = await makeRow(server, { ...position, parent: bobsNote! }, ann);
    const removed = await server.request(`/users/${ann.id}/remarks`, { method: "DELETE", key: ann.key });
    assert.equal(removed.status, 204, removed.text);
    expectAnswer(await server.request(itemOf(inAnnsNote)), { status: 404 });
    expectAnswer(await server.request(itemOf(inBobsNote)), { status: 200 });
  });

  test("a collection under a hidden row that is not its parent can neither be read nor deleted", async () => {
    const { ann, rows } = treeRows;
    for (const note of rows.filter(({ resource }) => resource === "note")) {
      const tag = await server.create("/tags", { name: "tag", noteId: note.id });
      for (const [method, status] of [
        ["GET", 200],
        ["DELETE", 204],
      ] as const) {
        const ask = (id: string): Promise<Answer> =>
          server.request(`/notes/${id}/tags`, { method, key: ann.key });
        const answer = await ask(note.id);
        assert.equal(answer.status, isVisible(note, ann) ? status : 404, answer.text);
        if (!isVisible(note, ann)) assert.equal(answer.text, (await ask(unknown(note.id))).text);
      }
      expectAnswer(await server.request(`/tags/${tag.id}`), { status: isVisible(note, ann) ? 404 : 200 });
    }
  });

  test("after these requests, no hidden row was written", async () => {
    const { ann, rows } = treeRows;
    for (const row of rows.filter((each) => each.depth < 2 && !isVisible(each, ann))) {
      const { body } = await server.request(itemOf(row));
      assert.equal(body.name, row.name);
      // Stamped once in REST and once in GraphQL by its other reader, or never.
      assert.equal(body.stamps, isVisible(row, treeRows.bob) ? 2 : 0);
      const names = (await server.request(`${nestedPathOf(row)}?limit=100`)).body.data.map(
        ({ name }: { name: string }) => name,
      );
      assert.equal(
        names.filter((name: string) => name.startsWith("made")).length,
        isVisible(row, treeRows.bob) ? 2 : 0,
      );
    }
  });
});

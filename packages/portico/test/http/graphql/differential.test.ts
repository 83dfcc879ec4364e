// Differential test: random documents are sent to the server and run by the reference executor (graphql-js) on the same
// database. The results must be equal.

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { buildClientSchema, type GraphQLSchema, getIntrospectionQuery } from "graphql";
import { openReference, type Reference, referenceSettings } from "../../graphql/open-reference.ts";
import { type Known, randomDocument } from "../../graphql/random-document.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { makeTenant, serve, type TestServer } from "../../support/scenario.ts";
import { type Answer, onEachDatabase, projectFolder } from "../../support/server.ts";

const documents = randomRuns(350, 200, "PORTICO_TEST_DOCUMENTS");

/** Without a request log, requests do not change the data. */
const env = { PORTICO_REQUEST_LOG_DAYS: "0", ...referenceSettings };

onEachDatabase("compiled and reference results for the service", (database) => {
  const server = serve(database, { env, prepare: fillService });
  differential(server, projectFolder);
});

onEachDatabase("compiled and reference results for a custom declaration", (database) => {
  const cwd = resolve(import.meta.dirname, "../../fixtures/workshop");
  const server = serve(database, { env, cwd, prepare: fillWorkshop });
  differential(server, cwd);
});

function differential(server: TestServer, cwd: string): void {
  let reference: Reference;
  let schema: GraphQLSchema;
  let known: Known;
  before(async () => {
    const { body } = await send(server, getIntrospectionQuery());
    schema = buildClientSchema(body.data);
    known = await learn(server, schema);
    const [me] = (await server.request("/users?sort=createdAt")).body.data;
    reference = await openReference(server.workspace, cwd, me.id);
  });
  after(() => reference.close());

  test(`${documents} random documents have the same results in both executors`, async () => {
    let errors = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { minLength: 40, maxLength: 160 }), async (numbers) => {
        const document = randomDocument(schema, known, numbers);
        const { text, variables } = document;
        const compiled = await send(server, text, variables);
        const expected = await reference.execute(text, variables);
        const context = `${text}\n${JSON.stringify(variables)}`;
        assertSameErrors(compiled.body, expected, context);
        // As text, because members must be in the order of the document.
        assert.equal(
          JSON.stringify(compiled.body.data ?? null),
          JSON.stringify(expected.data ?? null),
          context,
        );
        if (compiled.body.errors) errors += 1;
      }),
      { numRuns: documents },
    );
    assert.ok(errors < documents / 2, `${errors} of ${documents} documents had errors`);
  });
}

/** If `data` is null, graphql-js reports the first error only. The server reports all. */
function assertSameErrors(compiled: Answer["body"], reference: Answer["body"], context: string): void {
  const [actual, expected] = [textsOf(compiled.errors), textsOf(reference.errors)];
  if (reference.data) assert.deepEqual(actual, expected, context);
  for (const each of expected) assert.ok(actual.includes(each), `${context}\n${actual}\n${expected}`);
  assert.equal(actual.length > 0, expected.length > 0, `${context}\n${actual}\n${expected}`);
}

function textsOf(errors: readonly object[] = []): string[] {
  return errors.map((error) => JSON.stringify(error)).sort();
}

function send(server: TestServer, query: string, variables: object = {}): Promise<Answer> {
  return server.request("/graphql", { body: { query, variables } });
}

/** Existing ids and cursors of every type. */
async function learn(server: TestServer, schema: GraphQLSchema): Promise<Known> {
  const ids: string[] = [];
  const cursors: string[] = [];
  for (const [name, field] of Object.entries(schema.getQueryType()!.getFields())) {
    if (!name.endsWith("Connection") || field.args.some(({ name }) => /.Id$/.test(name))) continue;
    const { body } = await send(server, `{ page: ${name}(first: 3) { edges { cursor node { id } } } }`);
    for (const { cursor, node } of body.data.page.edges) {
      ids.push(node.id);
      cursors.push(cursor);
    }
  }
  return { ids, cursors, words: ["on", "the", "a b", "", "Ada", "ünï"] };
}

/** Strings with and without characters that JSON escapes. */
const texts = ['On "the" \\ way', "line\nbreak\t\u0001", "ünïcödé 🙂 \u2028", "On the Plain"];

async function fillService(server: TestServer): Promise<void> {
  const mary = await server.create("/users", { name: texts[2], email: "mary@example.com" });
  const project = await server.create("/v1/projects", { name: texts[0] });
  for (const [index, title] of texts.entries()) {
    const authorId = index % 2 === 0 ? { authorId: mary.id } : {};
    const post = await server.create("/posts", { title, body: texts.join("\n"), ...authorId });
    for (const body of texts) await server.create(`/posts/${post.id}/comments`, { body, ...authorId });
    const url = index % 2 === 0 ? { url: "https://example.com/?a=b" } : {};
    await server.create("/v1/deployments", { projectId: project.id, ref: `r${index}`, ...url });
  }
  const theirs = await makeTenant(server.workspace);
  await server.create("/posts", { title: "Theirs, on the other side" }, { key: theirs.key });
}

async function fillWorkshop(server: TestServer): Promise<void> {
  const mary = await server.create("/users", { name: "Mary", email: "mary@example.com" });
  const [me] = (await server.request("/users?sort=createdAt")).body.data;
  for (const [index, name] of texts.entries()) {
    const tool = await server.create("/tools", {
      name,
      weight: index === 0 ? null : index * 1.25,
      count: 0,
      isSharp: index % 2 === 0,
      boughtAt: index === 1 ? null : "2024-02-29T12:00:00+02:00",
      meta: { [name]: [1, 1e21, 0.1, null, true, { deep: name }] },
      notes: [null, "text", 7, [name]][index],
    });
    await server.create(`/tools/${tool.id}/uses`, { purpose: name, byId: index % 2 === 0 ? mary.id : me.id });
    await server.create("/oddities", { constructor: index === 0 ? null : name });
    await server.create("/latters", { name, colour: index === 0 ? null : "red" });
  }
  const diary = await server.create("/diaries", { text: "Mine", ownerId: me.id });
  await server.create(`/diaries/${diary.id}/diary-pages`, { text: "One" });
}

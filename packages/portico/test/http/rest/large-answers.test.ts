// No response is larger than 16 MiB: pages end early, and can still be followed to the end.

import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { rssMib } from "../../support/linux-process.ts";
import { runCommand, serveProcess, type TestServer } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";

const mebibyte = 1024 * 1024;
const maxBytes = 16 * mebibyte;
/** For all pages together and their responses, plus the garbage of a busy server. */
const maxGrowthMib = 400;

const count = 24;
/** Every tenth row is small, so that pages end at different rows. */
const sizeOf = (index: number): number => (index % 10 === 3 ? 10 : 900_000);
/** Every other text has two-byte characters. */
const textOf = (index: number): string =>
  index % 2 === 0 ? "x".repeat(sizeOf(index)) : "ж".repeat(sizeOf(index) / 2);
const cwd = join(import.meta.dirname, "../../fixtures/large");

onEachDatabase("large responses", (database) => {
  const ids: string[] = [];
  const server = serveProcess(database, {
    cwd,
    prepare: async (suite) => {
      for (let index = 0; index < count; index += 1) {
        const rank = index % 4 === 0 ? null : index % 3;
        const body = {
          name: `Document ${index % 3}`,
          ...(rank !== null && { rank }),
          body: textOf(index),
        };
        ids.push((await suite.create("/documents", body)).id);
        await suite.create("/scans", body);
      }
    },
  });

  for (const query of [
    "limit=100",
    "limit=100&sort=-rank",
    "limit=100&sort=rank",
    "limit=100&fields=body,more",
    "limit=100&q=document",
    "limit=100&name=Document%200&name=Document%201&name=Document%202",
  ])
    test(`all rows of ${query} are returned once and in order, in both directions`, () =>
      walk(server, query));

  test("a row is returned by its id, however large it is", async () => {
    const { body } = await server.request(`/documents/${ids[0]}`);
    assert.equal(body.body.length, sizeOf(0));
    assert.equal((await server.request(`/documents/${ids[0]}?fields=body`)).body.body.length, sizeOf(0));
  });

  test("a numbered page cannot end early, and is refused", async () => {
    const refused = await server.request("/scans?limit=100");
    assert.equal(refused.status, 422, refused.text.slice(0, 200));
    assert.equal(refused.body.error.code, "validation_error");
    assert.deepEqual(refused.body.error.details, [{ field: "limit", issue: "max" }]);
    assert.equal((await server.request("/scans?limit=10")).body.data.length, 10);
    assert.equal((await server.request("/scans?limit=100&fields=name")).body.data.length, count);
  });

  test("GraphQL refuses fields that would exceed the limit, and charges for what it returns", async () => {
    const rows = await ask(server, "{ documents(limit: 100) { id body } }");
    assert.deepEqual(codesOf(rows), ["validation_error"]);
    assert.match(rows.body.errors[0].message, /16 MiB/);
    const page = await ask(
      server,
      "{ documentsConnection(first: 100) { edges { cursor node { id body } } } }",
    );
    assert.deepEqual(codesOf(page), ["validation_error"]);
    const answer = await ask(server, '{ search(q: "document", limit: 100) { ... on Document { body } } }');
    assert.deepEqual(codesOf(answer), ["validation_error"]);

    const few = await ask(server, "{ documents(limit: 10) { body } }");
    assert.equal(few.body.data.documents.length, 10);
    assert.ok(Buffer.byteLength(few.text) > 8_000_000);
    const aliases = Array.from({ length: 12 }, (_, index) => `d${index}: documents(limit: 5) { body }`);
    const many = await ask(server, `{ ${aliases.join(" ")} }`);
    assert.equal(many.body.data, null);
    assert.deepEqual(new Set(codesOf(many)), new Set(["validation_error"]));
  });

  test("a response costs one extra token for each 100 KiB beyond the first, even more than are left", async () => {
    const words = ["key", "create", "--name", "x", "--scopes", "documents:read"];
    const quota = ["--rate-limit", "200", "--rate-window", "72000"];
    const { key } = await runCommand(server.workspace, [...words, ...quota], { cwd });
    const tokensLeft = (answer: Answer): number =>
      Number(/r=(\d+)/.exec(answer.headers.get("ratelimit")!)![1]);
    const tokens = ({ text }: Answer): number => Math.ceil(Buffer.byteLength(text) / (100 * 1024));
    const small = await server.request("/documents?limit=100&fields=name", { key });
    assert.equal(tokensLeft(small), 199);
    const row = await server.request(`/documents/${ids[0]}`, { key });
    assert.equal(tokensLeft(row), 199 - tokens(row));
    const page = await server.request("/documents?limit=100", { key });
    assert.equal(tokensLeft(page), 199 - tokens(row) - tokens(page));
    const more = await ask(server, "{ documents(limit: 10) { body } }", key);
    assert.equal(more.status, 200);
    assert.equal(tokensLeft(more), 0);
    const refused = await server.request("/documents?limit=1&fields=name", { key });
    assert.equal(refused.status, 429);
    // A token is added every six minutes.
    const overdraft = 1 + tokens(row) + tokens(page) + tokens(more) - 200;
    const wait = Number(refused.headers.get("retry-after")) / 360;
    assert.ok(wait > overdraft && wait <= overdraft + 1, `${wait} for ${overdraft}`);
  });

  test("the response of a write is charged like any other", async () => {
    const words = ["key", "create", "--name", "x", "--scopes", "documents:write"];
    const quota = ["--rate-limit", "200", "--rate-window", "72000"];
    const { key } = await runCommand(server.workspace, [...words, ...quota], { cwd });
    const tokensLeft = (answer: Answer): number =>
      Number(/r=(\d+)/.exec(answer.headers.get("ratelimit")!)![1]);
    const created = await server.request("/documents", { key, body: { name: "Written", body: textOf(0) } });
    assert.equal(created.status, 201, created.text.slice(0, 200));
    const tokens = Math.ceil(Buffer.byteLength(created.text) / (100 * 1024));
    assert.ok(tokens > 5);
    assert.equal(tokensLeft(created), 200 - tokens);
    const path = `/documents/${created.body.id}`;
    const changed = await server.request(path, { key, method: "PATCH", body: { rank: 9 } });
    assert.equal(tokensLeft(changed), 200 - 2 * tokens);
    const replaced = await server.request(path, { key, method: "PUT", body: { name: "Small" } });
    assert.equal(tokensLeft(replaced), 199 - 2 * tokens);
    const removed = await server.request(path, { key, method: "DELETE" });
    assert.equal(removed.status, 204);
  });

  test("others are served while many large responses are in progress, and memory stays bounded", async () => {
    const { pid } = server.portico;
    const requestLarge = (length: number): Promise<number[]> =>
      Promise.all(Array.from({ length }, () => statusOf(server, "/documents?limit=100")));
    const requestTwice = async (): Promise<number[]> => [
      ...(await requestLarge(8)),
      ...(await requestLarge(8)),
    ];
    await requestLarge(4);
    const before = rssMib(pid);
    let isOver = false;
    const all = requestTwice().finally(() => {
      isOver = true;
    });
    let served = 0;
    let maxRss = before;
    while (!isOver) {
      const { status } = await server.request(`/documents/${ids[3]}`);
      served += 1;
      maxRss = Math.max(maxRss, rssMib(pid));
      assert.equal(status, 200);
    }
    assert.deepEqual(await all, Array(16).fill(200));
    // If others waited for all large responses that are in progress, one would be served after each eight.
    assert.ok(served >= 6, `${served} others were served`);
    assert.ok(maxRss < before + maxGrowthMib, `${maxRss} MiB, ${before} before`);
  });
});

function ask(server: TestServer, query: string, key?: string): Promise<Answer> {
  return server.request("/graphql", { body: { query }, ...(key && { key }) });
}

function codesOf({ body }: Answer): string[] {
  return (body.errors ?? []).map((error: { extensions: { code: string } }) => error.extensions.code);
}

async function walk(server: TestServer, query: string): Promise<void> {
  const small = query.replace("&fields=body,more", "");
  const expected = (await pages(server, `/documents?${small}&fields=id`)).flatMap(({ body }) => idsOf(body));
  assert.equal(expected.length, count);
  if (query !== small) {
    const answers = await pages(server, `/documents?${query}`);
    assert.equal(answers.flatMap(({ body }) => body.data).length, count);
    return;
  }
  const forward = await pages(server, `/documents?${query}`);
  assert.deepEqual(
    forward.flatMap(({ body }) => idsOf(body)),
    expected,
  );
  assert.ok(forward[0]!.body.pagination.hasMore);

  // Each page backward ends where the page after it begins.
  const back: string[] = idsOf(forward.at(-1)!.body);
  let cursor = forward.at(-1)!.body.pagination.prevCursor;
  for (let hasMore = forward.length > 1; hasMore; ) {
    const page = await bounded(server, `/documents?${query}&direction=backward&cursor=${cursor}`);
    back.unshift(...idsOf(page.body));
    hasMore = page.body.pagination.hasMore;
    cursor = page.body.pagination.prevCursor;
  }
  assert.deepEqual(back, expected);
}

function idsOf(body: { data: { id: string }[] }): string[] {
  return body.data.map(({ id }) => id);
}

async function pages(server: TestServer, path: string): Promise<Answer[]> {
  const answers = [await bounded(server, path)];
  for (
    let next = answers[0]!.body.pagination.nextCursor;
    next;
    next = answers.at(-1)!.body.pagination.nextCursor
  )
    answers.push(await bounded(server, `${path}&cursor=${next}`));
  return answers;
}

async function bounded(server: TestServer, path: string): Promise<Answer> {
  const page = await server.request(path);
  assert.equal(page.status, 200, page.text.slice(0, 200));
  // The envelope surrounds the rows.
  assert.ok(Buffer.byteLength(page.text) <= maxBytes + 1_024, `${page.text.length}`);
  assert.ok(page.body.data.length > 0);
  return page;
}

/** Reads a response to its end without storing it, which would take this process longer than the server. */
async function statusOf({ url, portico }: TestServer, path: string): Promise<number> {
  const headers = { authorization: `Bearer ${portico.key}` };
  const [response] = (await once(get(url + path, { headers }), "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  return response.statusCode!;
}

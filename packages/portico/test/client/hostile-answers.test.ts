// What the client makes of hostile ids, and of servers that answer something else.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { inspect } from "node:util";
import { createClient, PorticoError } from "portico/client";
import type service from "../../../../portico.config.ts";

const credential = "sk_test_hostile";
const emptyPage = '{"data":[],"pagination":{"nextCursor":null,"hasMore":false}}';
let answer: RequestListener = () => {};
const sent: { readonly url: string; readonly authorization: string | undefined }[] = [];

function listener(): ReturnType<typeof createServer> {
  return createServer((request, response) => {
    sent.push({ url: request.url!, authorization: request.headers.authorization });
    request.resume();
    answer(request, response);
  }).listen(0, "127.0.0.1");
}
const servers = [listener(), listener()] as const;
const addressOf = (index: 0 | 1): string =>
  `http://127.0.0.1:${(servers[index].address() as AddressInfo).port}`;
before(() => Promise.all(servers.map((server) => server.listening || once(server, "listening"))));
after(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});

function connect() {
  sent.length = 0;
  return createClient<typeof service>({ baseUrl: addressOf(0), credential, maxRetries: 0 });
}

test("an id stays one segment of a path", async () => {
  answer = (_, response) => void response.end(emptyPage);
  const client = connect();
  const ids = ["../x", "a/b", "?q", "#f", "..;", "%2e%2e", "\\..", "ü\u0000"];
  for (const id of ids) {
    await client.posts.get(id);
    await client.posts(id).comments.list();
    await client.request("GET /v1/posts/{id}", { parameters: { id } });
  }
  assert.deepEqual(
    sent.map(({ url }) => url),
    ids
      .map((id) => `/v1/posts/${encodeURIComponent(id)}`)
      .flatMap((path) => [path, `${path}/comments`, path]),
  );
  sent.length = 0;
  for (const id of ["", ".", "..", undefined] as string[]) {
    await assert.rejects(async () => client.posts.delete(id), TypeError);
    await assert.rejects(async () => client.users(id).apiKeys.deleteAll(), TypeError);
    await assert.rejects(
      async () => client.request("DELETE /v1/posts/{id}", { parameters: { id } }),
      TypeError,
    );
  }
  assert.deepEqual([JSON.stringify(client), sent.length], ["{}", 0]);
});

test("an answer that is not of the API is an error without the credential", async () => {
  const bodies: readonly (readonly [status: number, type: string, body: string, code: string])[] = [
    [200, "text/html", "<html>", "invalid_response"],
    [200, "application/json", '{"data":[', "invalid_response"],
    [200, "application/json", "", "invalid_response"],
    [500, "application/json", "null", "invalid_response"],
    [400, "application/json", '{"error":"no"}', "invalid_response"],
    [400, "application/json", '{"error":{"code":7,"message":{},"details":"x"}}', "invalid_response"],
  ];
  for (const [status, type, body, code] of bodies) {
    answer = (_, response) => void response.writeHead(status, { "content-type": type }).end(body);
    await assert.rejects(connect().posts.list(), (error: PorticoError) => {
      assert.ok(error instanceof PorticoError && typeof error.message === "string");
      assert.deepEqual([error.code, error.status, error.details], [code, status, []]);
      assert.ok(!inspect(error).includes(credential));
      return true;
    });
  }
  answer = (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>");
  const client = connect();
  await assert.rejects(client.subscribe("post.created").next(), { code: "invalid_response" });
  await assert.rejects(client.posts.export().next(), { code: "invalid_response" });
  assert.equal(sent.length, 2);

  const secret = `${credential}\nx`;
  const broken = createClient<typeof service>({ baseUrl: addressOf(0), credential: secret, maxRetries: 0 });
  await assert.rejects(broken.me(), (error: Error) => !inspect(error).includes(credential));
});

test("a redirect to another origin does not get the credential", async () => {
  answer = ({ headers }, response) =>
    void (headers.host === new URL(addressOf(0)).host
      ? response.writeHead(307, { location: `${addressOf(1)}/v1/posts` }).end()
      : response.writeHead(200, { "content-type": "application/json" }).end(emptyPage));
  await connect().posts.list();
  assert.deepEqual(
    sent.map(({ authorization }) => authorization),
    [`Bearer ${credential}`, undefined],
  );
});

test("a write is not redirected, as it could become a GET", async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    answer = ({ method }, response) =>
      void (method === "GET"
        ? response.end(emptyPage)
        : response.writeHead(status, { location: `${addressOf(1)}/v1/posts` }).end());
    const client = connect();
    await assert.rejects(client.posts.create({ title: "x" }), (error: PorticoError) => {
      assert.deepEqual([error.code, error.status, sent.length], ["invalid_response", status, 1]);
      assert.match(error.message, new RegExp(`redirects to ${addressOf(1)}`));
      return true;
    });
    await assert.rejects(client.posts.delete("post_1"), { code: "invalid_response" });
  }
});

test("JSON of another shape is an error, and no page is read twice", async () => {
  const reply = (body: string): void => {
    answer = (_, response) => void response.writeHead(200, { "content-type": "application/json" }).end(body);
  };
  const refused = { name: "PorticoError", code: "invalid_response", status: 200 };
  for (const body of [
    "null",
    "7",
    '"x"',
    "[]",
    "{}",
    '{"data":{}}',
    '{"data":[]}',
    '{"data":[],"pagination":{}}',
  ]) {
    reply(body);
    await assert.rejects(connect().posts.list(), refused, body);
    await assert.rejects(connect().posts.all().next(), refused, body);
  }
  for (const body of ["null", "7", "[]", "true", ""]) {
    reply(body);
    await assert.rejects(connect().posts.get("post_1"), refused, body);
    await assert.rejects(connect().posts.create({ title: "x" }), refused, body);
    await assert.rejects(connect().me(), refused, body);
  }
  reply('{"data":[{"id":"post_1"}],"pagination":{"nextCursor":"again","hasMore":true}}');
  const ids: string[] = [];
  await assert.rejects(async () => {
    for await (const { id } of connect().posts.all()) ids.push(id);
  }, refused);
  assert.deepEqual(ids, ["post_1"]);
});

test("a subscription ends if its answers are not of the API", async () => {
  for (const data of ["<html>", "null", "{}", '{"data":null}', '{"data":{"postCreated":null}}']) {
    answer = (_, response) =>
      void response.writeHead(200, { "content-type": "text/event-stream" }).write(`id: 1\ndata: ${data}\n\n`);
    await assert.rejects(connect().subscribe("post.created").next(), { code: "invalid_response" }, data);
    assert.equal(sent.length, 1);
  }
});

test("what the caller got wrong is no failure of the connection, and is not repeated", async () => {
  answer = (_, response) => void response.end(emptyPage);
  const client = createClient<typeof service>({ baseUrl: addressOf(0), credential });
  sent.length = 0;
  const circular: { self?: unknown } = {};
  circular.self = circular;
  await assert.rejects(client.request("POST /v1/posts", { input: circular }), TypeError);
  await assert.rejects(client.posts.list({}, { headers: { "x-note": "line\nbreak" } }), TypeError);
  await assert.rejects(client.posts.update("post_1", {}, { ifMatch: "\u2603" }), TypeError);
  const withoutKey = createClient<typeof service>({ baseUrl: addressOf(0), credential: () => "" });
  await assert.rejects(withoutKey.me(), { code: "invalid_credential", status: 401 });
  await assert.rejects(withoutKey.subscribe("post.created").next(), { code: "invalid_credential" });
  const signedOut = createClient<typeof service>({
    baseUrl: addressOf(0),
    credential: () => Promise.reject(new Error("signed out")),
  });
  await assert.rejects(signedOut.subscribe("post.created").next(), { message: "signed out" });
  assert.equal(sent.length, 0);
  answer = (_, response) =>
    void response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  const onOpen = (): never => {
    throw new Error("of the caller");
  };
  await assert.rejects(client.subscribe("post.created", { onOpen }).next(), { message: "of the caller" });
  assert.equal(sent.length, 1);
});

test("an export that is cut off is continued behind the last row", async () => {
  const rows = ['{"id":"post_1"}\n', '{"id":"post_2"}\n{"id":"po', '{"id":"post_3"}\n{"id":', ""];
  answer = (_, response) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    // A proxy may end the third in order.
    const row = rows[sent.length - 1]!;
    if (sent.length > 2) response.end(row);
    else response.write(row, () => response.destroy());
  };
  const client = createClient<typeof service>({ baseUrl: addressOf(0), credential });
  sent.length = 0;
  const ids: string[] = [];
  for await (const { id } of client.posts.export({ limit: 5 })) ids.push(id);
  assert.deepEqual(ids, ["post_1", "post_2", "post_3"]);
  assert.deepEqual(
    sent.map(({ url }) => url),
    ["limit=5", "limit=4&after=post_1", "limit=3&after=post_2", "limit=2&after=post_3"].map(
      (query) => `/v1/exports/posts?${query}`,
    ),
  );
});

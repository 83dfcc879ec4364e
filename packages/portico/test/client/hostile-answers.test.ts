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
  answer = (_, response) => void response.end("{}");
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
      : response.writeHead(200, { "content-type": "application/json" }).end('{"data":[]}'));
  await connect().posts.list();
  assert.deepEqual(
    sent.map(({ authorization }) => authorization),
    [`Bearer ${credential}`, undefined],
  );
});

test("an export that is cut off is continued behind the last row", async () => {
  const rows = ['{"id":"post_1"}\n', '{"id":"post_2"}\n{"id":"po', '{"id":"post_3"}\n'];
  answer = (_, response) => {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    response.write(rows[sent.length - 1]!, () => (sent.length < 3 ? response.destroy() : response.end()));
  };
  const client = createClient<typeof service>({ baseUrl: addressOf(0), credential });
  sent.length = 0;
  const ids: string[] = [];
  for await (const { id } of client.posts.export({ limit: 5 })) ids.push(id);
  assert.deepEqual(ids, ["post_1", "post_2", "post_3"]);
  assert.deepEqual(
    sent.map(({ url }) => url),
    ["limit=5", "limit=4&after=post_1", "limit=3&after=post_2"].map((query) => `/v1/exports/posts?${query}`),
  );
});

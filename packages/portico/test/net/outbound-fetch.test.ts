// Outgoing requests to a local server: allowed destinations, timeouts and size limits.

import assert from "node:assert/strict";
import type { LookupAddress } from "node:dns";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { after, before, test } from "node:test";
import { OutboundFetch, type OutboundFetchOptions, type ResolveHost } from "../../src/net/outbound-fetch.ts";

let handler: RequestListener;
const requests: string[] = [];
const server = createServer((request, response) => {
  requests.push(`${request.method} ${request.headers.host?.split(":")[0]}${request.url}`);
  handler(request, response);
});
const connections = new Set<Socket>();
server.on("connection", (socket) => {
  connections.add(socket);
  socket.on("close", () => connections.delete(socket));
});
let port = 0;
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

const outbound = (options: Partial<OutboundFetchOptions> = {}): OutboundFetch =>
  new OutboundFetch({ isPrivateAllowed: true, timeoutMs: 2_000, maxBytes: 1_000, ...options });
const url = (path = "/", host = "127.0.0.1"): URL => new URL(`http://${host}:${port}${path}`);

/** A resolver that returns the next list for each lookup, and counts lookups. */
function resolver(...answers: readonly (readonly string[])[]): ResolveHost & { count: number } {
  const resolve = Object.assign(
    (_host: string, _options: object, callback: (error: null, addresses: LookupAddress[]) => void): void => {
      const addresses = answers[Math.min(resolve.count, answers.length - 1)]!;
      resolve.count += 1;
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
      );
    },
    { count: 0 },
  );
  return resolve;
}

test("a request is sent with its method, headers and body, and the response is read", async () => {
  handler = async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    response.writeHead(201, { "x-test": "1" }).end(`${request.method} ${request.headers["x-sent"]} ${body}`);
  };
  const sent = { method: "POST", headers: { "x-sent": "yes" }, body: "hello" };
  const { status, headers, body } = await outbound().fetch(url(), sent);
  assert.deepEqual([status, headers["x-test"], body.toString()], [201, "1", "POST yes hello"]);
});

test("a redirect is returned and not followed", async () => {
  handler = (_request, response) => response.writeHead(302, { location: "/secret" }).end();
  requests.length = 0;
  assert.equal((await outbound().fetch(url("/start"))).status, 302);
  assert.deepEqual(requests, ["GET 127.0.0.1/start"]);
});

test("a response that is too large is refused, with or without Content-Length", async () => {
  for (const headers of [{ "content-length": "1001" }, undefined]) {
    handler = (_request, response) => response.writeHead(200, headers).end("x".repeat(1_001));
    await assert.rejects(outbound().fetch(url()), /larger than 1000 bytes/);
  }
  handler = (_request, response) => response.end("x".repeat(1_000));
  assert.equal((await outbound().fetch(url())).body.length, 1_000);
});

test("an endless response ends at the size bound, and its connection is closed", async () => {
  handler = (_request, response) => {
    const write = (): void => {
      while (!response.destroyed && response.write("x".repeat(100)));
    };
    response.on("drain", write);
    write();
  };
  await assert.rejects(outbound().fetch(url()), /larger than 1000 bytes/);
  while (connections.size > 1) await new Promise((resolve) => setTimeout(resolve, 5));
});

for (const [name, respond] of [
  ["without an answer", () => {}],
  ["whose headers never end", (_request, response) => response.socket?.write("HTTP/1.1 200 OK\r\n")],
  [
    "whose body arrives slowly",
    (_request, response) => {
      const timer = setInterval(() => response.write("x"), 20);
      response.on("close", () => clearInterval(timer));
    },
  ],
  ["with nothing but interim responses", (_request, response) => response.writeProcessing()],
] satisfies readonly (readonly [string, RequestListener])[])
  test(`a server ${name} is given up after the timeout`, async () => {
    handler = respond;
    await assert.rejects(
      outbound({ timeoutMs: 150 }).fetch(url()),
      /127\.0\.0\.1:\d+ did not respond within 150 ms/,
    );
  });

test("where the status is what matters, of a long, endless or broken body only the beginning is returned", async () => {
  const bodies: Record<string, RequestListener> = {
    long: (_, response) => void response.end("x".repeat(1_000_000)),
    endless: (_, response) => void setInterval(() => response.write("x".repeat(10_000)), 1).unref(),
    stalled: (_, response) => void response.write("x".repeat(500)),
    broken: (_, response) => void response.write("x".repeat(500), () => response.socket!.destroy()),
  };
  for (const [name, respond] of Object.entries(bodies)) {
    handler = (request, response) => {
      response.writeHead(202);
      respond(request, response);
    };
    const options = { isBodyOptional: true, timeoutMs: 300 };
    const { status, body } = await outbound(options).fetch(url());
    const length = name === "long" || name === "endless" ? 1_000 : 500;
    assert.deepEqual([name, status, body.toString()], [name, 202, "x".repeat(length)]);
  }
});

test("a name server that does not answer is given up after the timeout", async () => {
  await assert.rejects(
    outbound({ timeoutMs: 100, resolve: () => {} }).fetch(url("/", "slow.example.com")),
    /did not respond within 100 ms/,
  );
});

test("only https is allowed where private addresses are not", async () => {
  const restricted = outbound({ isPrivateAllowed: false });
  for (const text of ["http://example.com/", "file:///etc/passwd", "ftp://example.com/", "data:,x"])
    await assert.rejects(restricted.fetch(new URL(text)), /requests to \w+: are not allowed/);
  await assert.rejects(outbound().fetch(new URL("file:///etc/passwd")), /requests to file: are not allowed/);
});

const literals =
  "127.0.0.1 127.1 0x7f000001 2130706433 017700000001 10.0.0.1 100.64.0.1 0.0.0.0 169.254.169.254 [::1] [::] [::ffff:127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::] [fe80::1] [fd00:ec2::254]";
for (const host of literals.split(" "))
  test(`https://${host}/ is refused without a connection`, async () => {
    const resolve = resolver(["127.0.0.1"]);
    await assert.rejects(
      outbound({ isPrivateAllowed: false, resolve }).fetch(new URL(`https://${host}:${port}/`)),
      /is not a public address/,
    );
    assert.equal(resolve.count, 0);
  });

for (const [name, addresses] of [
  ["a private address", ["127.0.0.1"]],
  ["a public and a private address", ["8.8.8.8", "10.0.0.1"]],
  ["a mapped address", ["::ffff:127.0.0.1"]],
  ["an address of the cloud's metadata", ["169.254.169.254"]],
  ["an address of NAT64", ["64:ff9b::a9fe:a9fe"]],
] as const)
  test(`a name with ${name} is refused`, async () => {
    const before = connections.size;
    await assert.rejects(
      outbound({ isPrivateAllowed: false, resolve: resolver(addresses) }).fetch(
        new URL(`https://rebind.example.com:${port}/`),
      ),
      /is not a public address/,
    );
    assert.equal(connections.size, before);
  });

test("a name whose addresses change is checked again for each connection", async () => {
  const answers = resolver(["8.8.8.8"], ["127.0.0.1"]);
  // The public address is returned too late for a connection, so the test sends nothing to it.
  const resolve: ResolveHost = (...lookup) =>
    setTimeout(() => answers(...lookup), answers.count === 0 ? 200 : 0);
  const restricted = outbound({ isPrivateAllowed: false, timeoutMs: 100, resolve });
  const target = new URL(`https://rebind.example.com:${port}/`);
  requests.length = 0;
  await assert.rejects(restricted.fetch(target), /did not respond/);
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal(answers.count, 1);
  await assert.rejects(restricted.fetch(target), /^Error: rebind\.example\.com is not a public address$/);
  assert.equal(answers.count, 2);
  assert.deepEqual(requests, []);
});

test("a connection uses the address of its lookup and is reused", async () => {
  handler = (_request, response) => response.end("ok");
  // A second lookup would return another address.
  const resolve = resolver(["127.0.0.1"], ["192.0.2.1"]);
  const allowed = outbound({ resolve });
  requests.length = 0;
  for (let count = 0; count < 3; count += 1)
    assert.equal((await allowed.fetch(url("/a", "app.example.com"))).status, 200);
  assert.equal(resolve.count, 1);
  assert.deepEqual(requests, Array(3).fill("GET app.example.com/a"));
});

test("a request is sent again if the server has closed the reused connection", async () => {
  let count = 0;
  handler = (request, response) => {
    count += 1;
    if (count === 2) request.socket.resetAndDestroy();
    else response.end("ok");
  };
  const allowed = outbound();
  assert.equal((await allowed.fetch(url())).status, 200);
  assert.equal((await allowed.fetch(url())).status, 200);
  assert.equal(count, 3);
});

// Names that are resolved by DNS queries to a local server.

import assert from "node:assert/strict";
import { createSocket, type RemoteInfo } from "node:dgram";
import { Resolver } from "node:dns";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { resolverOfPublicHosts } from "../../src/net/dns-resolver.ts";
import { OutboundFetch } from "../../src/net/outbound-fetch.ts";

/** The IPv4 addresses of names, one list for each query; a name without any is never answered. */
const names: Record<string, string[][]> = {
  "slow.example.com": [],
  "private.example.com": [["10.0.0.1"]],
  "public.example.com": [["192.0.3.1"]],
};
const socket = createSocket("udp4");
const resolver = new Resolver();
const resolveHost = resolverOfPublicHosts(resolver);

before(async () => {
  socket.on("message", (query, from) => answer(query, from));
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
});
after(() => {
  resolver.cancel();
  socket.close();
});

/** A response has the id and the question of its query (RFC 1035, section 4). */
function answer(query: Buffer, { port, address }: RemoteInfo): void {
  const labels: string[] = [];
  let offset = 12;
  for (let length = query[offset]!; length > 0; length = query[offset]!) {
    labels.push(query.toString("latin1", offset + 1, offset + 1 + length));
    offset += 1 + length;
  }
  const question = query.subarray(12, offset + 5);
  const isV4 = query.readUInt16BE(offset + 1) === 1;
  const lists = names[labels.join(".").toLowerCase()];
  if (lists?.length === 0) return;
  const addresses = isV4 ? ((lists && lists.length > 1 ? lists.shift() : lists?.[0]) ?? []) : [];
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(lists ? 0x8180 : 0x8183, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(addresses.length, 6);
  const records = addresses.map((each) =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...each.split(".").map(Number)]),
  );
  socket.send(Buffer.concat([head, question, ...records]), port, address);
}

const resolve = (host: string): Promise<readonly string[]> =>
  new Promise((resolved, reject) =>
    resolveHost(host, { all: true }, (error, addresses) =>
      error ? reject(error) : resolved(addresses.map(({ address }) => address)),
    ),
  );

test("the addresses of a name, and the error of one that does not exist", async () => {
  assert.deepEqual(await resolve("public.example.com"), ["192.0.3.1"]);
  await assert.rejects(resolve("none.example.com"), { code: "ENOTFOUND" });
});

test("names whose servers do not answer hold up no other", async () => {
  const slow = Array.from({ length: 20 }, () => resolve("slow.example.com"));
  for (const each of slow) each.catch(() => {});
  assert.deepEqual(await resolve("public.example.com"), ["192.0.3.1"]);
});

test("a request refuses a name with a private address, also if that comes after a public one", async () => {
  const options = { isPrivateAllowed: false, timeoutMs: 2_000, maxBytes: 100, resolve: resolveHost };
  const outbound = new OutboundFetch(options);
  const target = new URL("https://private.example.com/");
  await assert.rejects(outbound.fetch(target), /private\.example\.com is not a public address/);
});

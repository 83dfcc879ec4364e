// The address of the client behind proxies.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { clientAddressReader, isNetwork } from "../../src/net/client-address.ts";

const proxies = ["10.0.0.0/8", "192.0.2.7", "2001:db8::/32"];
const read = (trusted: readonly string[], remoteAddress: string, forwarded?: string): string =>
  clientAddressReader(trusted)({
    headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
    socket: { remoteAddress } as never,
  });

for (const [fact, remote, forwarded, expected] of [
  ["a proxy reports the client", "10.0.0.1", "203.0.113.5", "203.0.113.5"],
  ["of two proxies, the first one reports the client", "10.0.0.1", "203.0.113.5, 192.0.2.7", "203.0.113.5"],
  ["addresses that the client sent are ignored", "10.0.0.1", "1.2.3.4, 203.0.113.5", "203.0.113.5"],
  ["they are ignored if they name a proxy", "10.0.0.1", "10.9.9.9, 203.0.113.5", "203.0.113.5"],
  ["the header of a client that is not a proxy is ignored", "203.0.113.5", "1.2.3.4", "203.0.113.5"],
  ["a proxy that sends no header is the client", "10.0.0.1", undefined, "10.0.0.1"],
  ["a proxy that sends an empty header is the client", "10.0.0.1", "", "10.0.0.1"],
  ["the chain ends at a text that is not an address", "10.0.0.1", "unknown, 10.0.0.2", "10.0.0.2"],
  ["IPv6", "2001:db8::1", "2001:db9::5", "2001:db9::5"],
  ["an IPv4 address mapped to IPv6", "::ffff:10.0.0.1", "203.0.113.5", "203.0.113.5"],
] as const) {
  test(fact, () => assert.equal(read(proxies, remote, forwarded), expected));
}

test("without trusted proxies the header has no effect", () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.string(), (remote, forwarded) => {
      assert.equal(read([], remote, forwarded), remote);
    }),
  );
});

test("the address is one that a proxy saw, whatever the client sends", () => {
  const hop = fc.oneof(fc.ipV4(), fc.ipV6(), fc.string(), fc.constantFrom("10.1.1.1", "192.0.2.7"));
  fc.assert(
    fc.property(fc.array(hop), (written) => {
      // The nearest proxy wrote the last address, and it is not the address of a proxy.
      assert.equal(read(proxies, "10.0.0.1", [...written, "203.0.113.5"].join(", ")), "203.0.113.5");
    }),
  );
});

for (const text of ["10.0.0.1", "10.0.0.0/8", "0.0.0.0/0", "::1", "fc00::/7"])
  test(`${text} is a network`, () => assert.equal(isNetwork(text), true));
for (const text of ["", "proxy", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "::1/129", "10.0.0.0/8/8"])
  test(`'${text}' is not a network`, () => assert.equal(isNetwork(text), false));

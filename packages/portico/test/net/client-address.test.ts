// Who sends a request, where proxies stand in between.

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
  ["a proxy tells of the caller", "10.0.0.1", "203.0.113.5", "203.0.113.5"],
  ["of two proxies, the first tells", "10.0.0.1", "203.0.113.5, 192.0.2.7", "203.0.113.5"],
  ["what the caller wrote before counts for nothing", "10.0.0.1", "1.2.3.4, 203.0.113.5", "203.0.113.5"],
  ["nor does it where it names a proxy", "10.0.0.1", "10.9.9.9, 203.0.113.5", "203.0.113.5"],
  ["who is no proxy tells nothing", "203.0.113.5", "1.2.3.4", "203.0.113.5"],
  ["a proxy that tells nothing is the caller", "10.0.0.1", undefined, "10.0.0.1"],
  ["nor an empty text", "10.0.0.1", "", "10.0.0.1"],
  ["a text that is no address ends it", "10.0.0.1", "unknown, 10.0.0.2", "10.0.0.2"],
  ["IPv6", "2001:db8::1", "2001:db9::5", "2001:db9::5"],
  ["IPv4 as a socket of IPv6 names it", "::ffff:10.0.0.1", "203.0.113.5", "203.0.113.5"],
] as const) {
  test(fact, () => assert.equal(read(proxies, remote, forwarded), expected));
}

test("without trusted proxies nothing that is sent moves a caller", () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.string(), (remote, forwarded) => {
      assert.equal(read([], remote, forwarded), remote);
    }),
  );
});

test("whatever the caller writes, the address is one that a proxy saw", () => {
  const hop = fc.oneof(fc.ipV4(), fc.ipV6(), fc.string(), fc.constantFrom("10.1.1.1", "192.0.2.7"));
  fc.assert(
    fc.property(fc.array(hop), (written) => {
      // The last one is what the nearest proxy has written, and the caller is none.
      assert.equal(read(proxies, "10.0.0.1", [...written, "203.0.113.5"].join(", ")), "203.0.113.5");
    }),
  );
});

for (const text of ["10.0.0.1", "10.0.0.0/8", "0.0.0.0/0", "::1", "fc00::/7"])
  test(`${text} is a network`, () => assert.equal(isNetwork(text), true));
for (const text of ["", "proxy", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "::1/129", "10.0.0.0/8/8"])
  test(`'${text}' is none`, () => assert.equal(isNetwork(text), false));

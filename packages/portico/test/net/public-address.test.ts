// Addresses of the public internet, and all others.

import assert from "node:assert/strict";
import { BlockList } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { isPublicAddress } from "../../src/net/public-address.ts";

const open = ["8.8.8.8", "1.1.1.1", "192.0.3.1", "172.32.0.1", "2606:4700::1111", "2a00:1450::1"];
const special =
  "0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.255.255 168.63.129.16 169.254.169.254 172.16.0.1 172.31.255.255 192.168.1.1 198.18.0.1 224.0.0.1 255.255.255.255";
const special6 =
  ":: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:7f00:1 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::7f00:1 100::1 fe80::1 fe80::1%eth0 fec0::1 fd00::1 fd00:ec2::254 fc00::1 ff02::1 2001:db8::1 2001::1 2001:20::1 2002:7f00:1:: 3fff::1 4000::1 2606:4700::1111%1";
const none = ["", "x", "127.1", "0x7f000001", "2130706433", "010.0.0.1", "localhost", "[::1]"];

for (const address of open) test(`${address} is public`, () => assert.equal(isPublicAddress(address), true));
for (const address of [...special.split(" "), ...special6.split(" "), ...none])
  test(`'${address}' is not public`, () => assert.equal(isPublicAddress(address), false));

/** RFC 6890 and the IANA registries of special-purpose addresses. */
const specialNetworks: readonly (readonly [network: string, prefixLength: number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

const toText = (address: number): string =>
  [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join(".");
const toNumber = (text: string): number => text.split(".").reduce((all, part) => all * 256 + Number(part), 0);
const hex = (address: number): string =>
  `${(address >>> 16).toString(16)}:${(address & 0xffff).toString(16)}`;

test("no address of a special-purpose network is public", () => {
  const anySpecial = fc
    .tuple(fc.constantFrom(...specialNetworks), fc.nat(0xffffffff))
    .map(([[network, prefixLength], bits]) => toText(toNumber(network) + (bits % 2 ** (32 - prefixLength))));
  fc.assert(fc.property(anySpecial, (address) => !isPublicAddress(address)));
});

test("every other IPv4 address is public, except those of anycast services", () => {
  const listed = new BlockList();
  for (const [network, prefixLength] of specialNetworks) listed.addSubnet(network, prefixLength, "ipv4");
  // AS112 (RFC 7534, RFC 7535) and AMT (RFC 7450): infrastructure without ordinary hosts.
  for (const network of ["192.31.196.0", "192.52.193.0", "192.175.48.0"])
    listed.addSubnet(network, 24, "ipv4");
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      assert.equal(isPublicAddress(address), !listed.check(address, "ipv4"));
    }),
  );
});

test("no IPv6 address that embeds an IPv4 address is public, in any notation", () => {
  fc.assert(
    fc.property(fc.nat(0xffffffff), fc.nat(0xffff), (address, rest) => {
      const forms = [
        `::ffff:${toText(address)}`,
        `::ffff:${hex(address)}`,
        `0:0:0:0:0:FFFF:${hex(address)}`,
        `::${toText(address)}`,
        `64:ff9b::${hex(address)}`,
        `64:ff9b::${toText(address)}`,
        `64:ff9b:1:${rest.toString(16)}::${hex(address)}`,
        `2002:${hex(address)}::${rest.toString(16)}`,
        `2001:0:${hex(address)}::${rest.toString(16)}`,
      ];
      for (const form of forms) assert.equal(isPublicAddress(form), false, form);
    }),
  );
});

test("no IPv6 address outside 2000::/3 is public, and no text throws", () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV6(), fc.string()), (text) => {
      const firstGroup = Number.parseInt(text.split(":")[0] || "0", 16);
      if (isPublicAddress(text) && text.includes(":"))
        assert.ok(firstGroup >= 0x2000 && firstGroup <= 0x3fff, text);
    }),
  );
});

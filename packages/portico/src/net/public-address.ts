// Addresses of the public internet, as opposed to those of this machine, its network and special purposes (RFC 6890).

import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** The only IPv6 block that is assigned for public use. NAT64 and IPv4-mapped addresses are outside it. */
const globalUnicast = ipaddr.parseCIDR("2000::/3");
/** Documentation (RFC 9637), which the library does not list. */
const documentation = ipaddr.parseCIDR("3fff::/20");

/** The metadata service of Azure, on an address that is otherwise public. */
const azureMetadata = "168.63.129.16";

/** Returns false for texts that are not addresses, and for addresses with a zone. */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0 || text.includes("%")) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== "unicast" || address.toString() === azureMetadata) return false;
  return !(address instanceof ipaddr.IPv6) || (address.match(globalUnicast) && !address.match(documentation));
}

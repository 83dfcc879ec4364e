// What counts as one place where requests come from.

const mappedIpv4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const addressGroups = 8;
const networkGroups = 4;

/**
 * An IPv4 address as it is, of an IPv6 address the first 64 bits: whoever has one has all that begin with them.
 *
 * @example
 * networkOf("2001:db8::7:1"); // "2001:db8:0:0"
 */
export function networkOf(address: string): string {
  const mapped = mappedIpv4.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(":")) return address;
  const [head = [], tail = []] = address.split("::").map((half) => half.split(":").filter(Boolean));
  const zeros = Array(Math.max(0, addressGroups - head.length - tail.length)).fill("0");
  return [...head, ...zeros, ...tail].slice(0, networkGroups).join(":");
}

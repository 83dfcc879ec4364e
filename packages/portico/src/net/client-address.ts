// Where a request comes from: the other end of its connection, or what proxies that are trusted say of it.

import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

export type ClientAddress = (request: Pick<IncomingMessage, "headers" | "socket">) => string;

/** `10.0.0.7`, or with the bits that count `10.0.0.0/8`; undefined for a text that is neither. */
export function parseNetwork(text: string): { readonly address: string; readonly bits: number } | undefined {
  const [, address = "", bitsText] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const maxBits = { 0: -1, 4: 32, 6: 128 }[isIP(address) as 0 | 4 | 6];
  const bits = bitsText === undefined ? maxBits : Number(bitsText);
  return bits >= 0 && bits <= maxBits ? { address, bits } : undefined;
}

/**
 * Reads `X-Forwarded-For` from its end, as far as it was written by proxies that are trusted: anybody can write what
 * stands before that.
 *
 * @param trusted addresses and networks of the proxies; where there are none, the header says nothing
 * @example
 * addressReader(["10.0.0.0/8"])(request); // "203.0.113.5"
 */
export function clientAddressReader(trusted: readonly string[]): ClientAddress {
  const proxies = new BlockList();
  for (const { address, bits } of trusted.flatMap((each) => parseNetwork(each) ?? []))
    proxies.addSubnet(address, bits, familyOf(address));
  if (trusted.length === 0) return ({ socket }) => socket.remoteAddress ?? "";
  const isProxy = (address: string): boolean =>
    isIP(address) !== 0 && proxies.check(address, familyOf(address));
  return ({ headers, socket }) => {
    const forwarded = [headers["x-forwarded-for"] ?? ""].flat().join().split(",");
    const hops = [...forwarded.map((each) => each.trim()), socket.remoteAddress ?? ""];
    let index = hops.length - 1;
    while (isProxy(hops[index]!) && isIP(hops[index - 1] ?? "") !== 0) index -= 1;
    return hops[index]!;
  };
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}

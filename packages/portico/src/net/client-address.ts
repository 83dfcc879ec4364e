// The address of the client that sends a request: the peer of its connection or, behind trusted proxies, the address
// that the proxies report in `X-Forwarded-For`.

import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import proxyAddr from "@fastify/proxy-addr";
import ipaddr from "ipaddr.js";

export type ClientAddressReader = (request: Pick<IncomingMessage, "headers" | "socket">) => string;

/** Whether a text is an address, or a network in CIDR notation: `10.0.0.7`, `10.0.0.0/8`. */
export function isNetwork(text: string): boolean {
  const [address = "", prefixLength] = text.split("/", 2);
  return isIP(address) !== 0 && (prefixLength === undefined || ipaddr.isValidCIDR(text));
}

/**
 * Reads the header from its end, as far as trusted proxies wrote it: the client can send any value before that.
 *
 * @param trustedProxies addresses and networks; without any, the header is ignored
 * @example
 * clientAddressReader(["10.0.0.0/8"])(request); // "203.0.113.5"
 */
export function clientAddressReader(trustedProxies: readonly string[]): ClientAddressReader {
  if (trustedProxies.length === 0) return ({ socket }) => socket.remoteAddress ?? "";
  const networks = trustedProxies.map((text) =>
    ipaddr.parseCIDR(text.includes("/") ? text : `${text}/${isIP(text) === 6 ? 128 : 32}`),
  );
  const isTrusted = (text: string): boolean => {
    if (isIP(text) === 0) return false;
    const address = ipaddr.process(text);
    return networks.some((network) => network[0].kind() === address.kind() && address.match(network));
  };
  return (request) => {
    // The library reads only the members that the type of `request` names.
    const hops = proxyAddr.all(request as IncomingMessage, isTrusted);
    // Only the last entry can be something else than an address, because such a text is not trusted.
    return hops.findLast((hop) => isIP(hop) !== 0) ?? "";
  };
}

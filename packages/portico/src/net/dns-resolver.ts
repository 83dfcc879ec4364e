// Resolves the names of public hosts by DNS queries. The resolver of the system (`dns.lookup`) uses one of the four threads
// of the process for each name until it has an answer, so a few names whose servers do not answer would hold up the
// look-ups of all others, and password hashes.

import { type LookupAddress, Resolver } from "node:dns";
import type { ResolveHost } from "./outbound-fetch.ts";

/** How long to wait for the addresses of one family once those of the other are known (RFC 8305, section 3). */
const otherFamilyMs = 50;

/** Resolves names like `dns.lookup`, but without /etc/hosts and search domains, which have no names of public hosts. */
export function resolverOfPublicHosts(
  resolver: Pick<Resolver, "resolve4" | "resolve6"> = new Resolver(),
): ResolveHost {
  return (host, _options, callback) => {
    const found: LookupAddress[] = [];
    let failure: NodeJS.ErrnoException | null = null;
    let pending = 2;
    let timer: NodeJS.Timeout | undefined;
    let hasEnded = false;
    const end = (): void => {
      if (hasEnded) return;
      hasEnded = true;
      clearTimeout(timer);
      callback(found.length > 0 ? null : failure, found);
    };
    const receive =
      (family: 4 | 6) =>
      (error: NodeJS.ErrnoException | null, addresses: readonly string[]): void => {
        pending -= 1;
        if (error) failure ??= error;
        else found.push(...addresses.map((address) => ({ address, family })));
        if (pending === 0) end();
        else if (found.length > 0) timer = setTimeout(end, otherFamilyMs);
      };
    resolver.resolve4(host, receive(4));
    resolver.resolve6(host, receive(6));
  };
}

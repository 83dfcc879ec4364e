// Headers that announce the end of what a request uses: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), and `Link` to a page
// that explains it (RFC 9745, section 3, and RFC 8594, section 6).

import type { FastifyReply } from "fastify";
import type { Deprecation } from "../declare/field-options.ts";
import { earliestDeprecation } from "../model/deprecation.ts";

/**
 * Sets the headers for all deprecations that concern a request. Links that the response has stay.
 * @param deprecations the most specific first
 */
export function announceDeprecation(
  reply: Pick<FastifyReply, "getHeader" | "header">,
  deprecations: readonly (Deprecation | undefined)[],
): void {
  const deprecation = earliestDeprecation(deprecations);
  if (!deprecation) return;
  const { since, sunset, link } = deprecation;
  reply.header("Deprecation", `@${Math.floor(Date.parse(since) / 1000)}`);
  if (sunset !== undefined) reply.header("Sunset", new Date(sunset).toUTCString());
  if (link === undefined) return;
  const other = reply.getHeader("Link");
  const relations = sunset === undefined ? ["deprecation"] : ["deprecation", "sunset"];
  const links = relations.map((relation) => `<${link}>; rel="${relation}"`);
  reply.header("Link", [...(other === undefined ? [] : [String(other)]), ...links].join(", "));
}

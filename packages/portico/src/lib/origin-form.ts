// The target of a request without the host that it may name: links are never made from what a caller says of the host.

/** The path and query of a target, in whichever form it was sent (RFC 9112, section 3.2.2). */
export function originForm(target: string): string {
  if (target.startsWith("/")) return target;
  const rest = target.replace(/^https?:\/\/[^/?]*/i, "");
  return rest.startsWith("/") ? rest : `/${rest}`;
}

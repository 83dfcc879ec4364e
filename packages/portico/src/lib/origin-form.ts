// Request targets can include a host, which the caller chooses. Links must not be built from it.

/** Returns the path and query of a target in origin form or absolute form (RFC 9112, section 3.2). */
export function originForm(target: string): string {
  if (target.startsWith("/")) return target;
  const rest = target.replace(/^https?:\/\/[^/?]*/i, "");
  return rest.startsWith("/") ? rest : `/${rest}`;
}

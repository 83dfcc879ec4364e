// oidc-provider 9.13 introspects a token of the client credentials grant without `sub`. The token itself has the
// client's id as its subject (RFC 9068, section 2.2), so Portico adds it to the response (RFC 7662, section 2.2).

import { routes } from "../routes.ts";
import type { Answer } from "./answer.ts";

export function addSubject({ path, body }: Answer): void {
  if (path !== routes.introspection) return;
  if (typeof body !== "object" || body === null || !("active" in body) || !body.active) return;
  if (!("sub" in body) && "client_id" in body) Object.assign(body, { sub: body.client_id });
}

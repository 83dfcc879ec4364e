// oidc-provider 9.13 registers the response mode `form_post` and has no setting against it. Its page sends a form with an
// inline script, which the Content-Security-Policy of Portico's pages forbids. Portico offers `query` and `fragment`:
// requests for form_post fail as an unsupported mode, and the metadata do not list it (RFC 8414, section 2).

import type { Answer } from "./answer.ts";

export const responseModes = ["query", "fragment"] as const;

/** Discovery documents list the modes that clients can use. */
export function listResponseModes({ path, response }: Answer): void {
  if (path.startsWith("/.well-known/") && response.status === 200)
    Object.assign(response.body as object, { response_modes_supported: responseModes });
}

/** Replaces `response_mode=form_post` by a mode that oidc-provider refuses. @returns whether it did */
export function refuseFormPost(parameters: URLSearchParams): boolean {
  if (parameters.get("response_mode") !== "form_post") return false;
  parameters.set("response_mode", "not_offered");
  return true;
}

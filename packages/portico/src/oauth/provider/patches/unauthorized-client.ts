// oidc-provider 9.13 reports a grant type that the client may not use as `invalid_request`. RFC 6749, section 5.2, has
// `unauthorized_client` for it.

import { type Answer, errorBodyOf } from "./answer.ts";

/** The end of the description at the token endpoint ("requested grant type is ...") and at device_authorization. */
const notAllowed = / is not allowed for this client$/;

export function reportUnauthorizedClient({ body }: Answer): void {
  const error = errorBodyOf(body);
  if (error?.error === "invalid_request" && notAllowed.test(error.error_description ?? ""))
    error.error = "unauthorized_client";
}

// oidc-provider 9.13 has no POST at the authorization and end-session endpoints unless `enableHttpPostMethods` is set,
// which needs session cookies with SameSite=None. OpenID Connect requires POST (Core, section 3.1.2.1; RP-Initiated
// Logout, section 2). Portico redirects such a form to the same endpoint with GET: browsers send SameSite=Lax cookies
// with that request, and not with forms of other sites.

import {
  type PageContext,
  type PageRequest,
  redirectSeeOther,
  sendPage,
} from "../../interaction/page-request.ts";
import { errorPage } from "../../pages/plain-pages.ts";

/** Longer than any request that fits into a URL. */
const maxQueryLength = 12 * 1024;

export async function redirectToGet({ issuer }: PageContext, pageRequest: PageRequest): Promise<void> {
  const { request, form } = pageRequest;
  const query = String(form ?? "");
  const isForm = /^application\/x-www-form-urlencoded *(;|$)/i.test(request.headers["content-type"] ?? "");
  const refuse = (status: number, error_description: string): void =>
    sendPage(issuer, pageRequest, status, errorPage(issuer, { error: "invalid_request", error_description }));
  if (!isForm) return refuse(400, "Send a form (application/x-www-form-urlencoded).");
  if (query.length > maxQueryLength) return refuse(413, "The request is too long.");
  redirectSeeOther(issuer, pageRequest, `${request.url?.split("?", 1)[0]}?${query}`);
}

// What every request to the authorization server must satisfy before oidc-provider or a page reads it.

import type { FastifyRequest } from "fastify";
import { hasDuplicateAuthorization } from "../../auth/presented-credential.ts";
import { Problem } from "../../errors.ts";
import { formText, requireParameters, requireUtf8 } from "./parameters.ts";

/** The query of a request with its question mark; `""` if there is none. */
export function searchOf({ url }: FastifyRequest): string {
  const query = url.indexOf("?");
  return query < 0 ? "" : url.slice(query);
}

/** @throws Problem `malformed_request` for a query or form with an invalid parameter */
export function requireValidParameters({ headers, body }: FastifyRequest, search: string): void {
  requireParameters(search.slice(1));
  if (!Buffer.isBuffer(body)) return;
  requireUtf8(headers["content-type"]);
  requireParameters(formText(body));
}

/** Node keeps the first of several Authorization headers only. @throws Problem `malformed_request` */
export function requireSingleAuthorization({ raw }: FastifyRequest): void {
  if (hasDuplicateAuthorization(raw.rawHeaders))
    throw new Problem("malformed_request", "Send the Authorization header once.");
}

/** The ids that oidc-provider gives to interactions: the only variable segment of a path. */
const uidForm = /^[\w-]{1,64}$/;

/**
 * The path of an endpoint below the issuer. It is built from the route, because the router also accepts other spellings
 * of a path, such as `/%6Fauth`.
 *
 * @throws Problem `not_found`
 */
export function pathOf(path: string, params: unknown): string {
  if (!path.includes(":")) return path;
  const { uid = "" } = params as { readonly uid?: string };
  if (!uidForm.test(uid)) throw new Problem("not_found", "There is no such page.");
  return path.replace(":uid", uid);
}

/** Whether a browser asks what scripts of another origin may send (Fetch Standard, section 3.3.2). */
export function isPreflight({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined && headers["access-control-request-method"] !== undefined;
}

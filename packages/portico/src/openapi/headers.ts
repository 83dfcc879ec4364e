// The headers of responses.

import { type ErrorCode, hasRetryAfter } from "../errors.ts";
import type { Components } from "./components.ts";
import type { HeaderObject, Reference } from "./description.ts";

const text = { type: "string" };

const headers: Readonly<Record<string, HeaderObject>> = {
  "Accept-Encoding": {
    description: "The content codings that request bodies may have (RFC 9110, section 12.5.3).",
    schema: text,
    example: "identity",
  },
  "Accept-Ranges": {
    description: "Whether parts of the content can be requested.",
    schema: text,
    example: "bytes",
  },
  Allow: { description: "The methods of the path.", schema: text, example: "GET, HEAD" },
  "Cache-Control": {
    description: "Who may cache the response, and for how long.",
    schema: text,
    example: "private, no-cache",
  },
  "Content-Disposition": {
    description: "The suggested name of the file.",
    schema: text,
    example: 'attachment; filename="posts.ndjson"',
  },
  "Content-Range": {
    description: "The part of the file that the response contains.",
    schema: text,
    example: "bytes 0-99/1000",
  },
  Deprecation: {
    description: "The time from which something that the request uses is deprecated (RFC 9745).",
    schema: text,
    example: "@1767225600",
  },
  ETag: {
    description: "The entity tag, for If-Match and If-None-Match.",
    schema: text,
    example: '"b1946ac92492d234"',
  },
  "Idempotent-Replayed": {
    description:
      "`true` if the response is the stored response to an earlier request with the same Idempotency-Key.",
    schema: { type: "string", enum: ["true"] },
    example: "true",
  },
  Link: {
    description: "The next and the previous page, or what describes the API (RFC 8288).",
    schema: text,
    example: '</v1/posts?cursor=eyJ>; rel="next"',
  },
  Location: {
    description: "The path of the row, or the page to go to.",
    schema: { type: "string", format: "uri-reference" },
    example: "/v1/posts/post_01k9zc4xq8e2v9n7h3m5b6t1ra",
  },
  RateLimit: {
    description:
      "The number of requests left in the quota of the credential, and the seconds until the quota is full.",
    schema: text,
    example: '"default";r=999;t=1',
  },
  "RateLimit-Policy": {
    description: "The quota of the credential: requests in a number of seconds.",
    schema: text,
    example: '"default";q=1000;w=60',
  },
  "Retry-After": {
    description: "The number of seconds to wait before the next attempt.",
    schema: { type: "integer", minimum: 0 },
    example: 1,
  },
  Sunset: {
    description: "The time from which something that the request uses may be removed (RFC 8594).",
    schema: text,
    example: "Thu, 31 Dec 2026 00:00:00 GMT",
  },
  "Total-Count": {
    description: "The number of rows, with `total=true`.",
    schema: { type: "integer", minimum: 0 },
    example: 1,
  },
  Vary: {
    description: "The headers of the request on which the response depends.",
    schema: text,
    example: "Authorization, X-API-Key",
  },
  "WWW-Authenticate": {
    description: "The authentication scheme that the request needs (RFC 6750, RFC 9728).",
    schema: text,
    example: 'Bearer error="invalid_token"',
  },
  "X-Request-Id": {
    description: "The id of the request, as in the log of the server.",
    schema: { type: "string", minLength: 1, maxLength: 128 },
    example: "0f8fad5b-d9cb-469f-a165-70867728950e",
  },
};

/** References to headers by their names. @param names all of them are described here */
export function headerReferences(
  names: readonly string[],
  components: Components,
): Readonly<Record<string, Reference>> {
  return Object.fromEntries(
    [...new Set(names)].map((name) => [
      name,
      components.add("headers", name.replaceAll("-", ""), headers[name]!),
    ]),
  );
}

/** The headers of every response to a request whose credential is known. */
export const quotaHeaders = ["X-Request-Id", "RateLimit", "RateLimit-Policy"];

/** The headers that announce a deprecation. */
export const deprecationHeaders = ["Deprecation", "Sunset", "Link"];

/** Errors that are found before the quota of a credential is known. */
const withoutQuota: ReadonlySet<ErrorCode> = new Set([
  ...(["credential_in_query", "authentication_required", "invalid_credential", "wrong_environment"] as const),
  "not_acceptable",
]);

const withChallenge: ReadonlySet<ErrorCode> = new Set([
  "authentication_required",
  "invalid_credential",
  "wrong_environment",
  "insufficient_scope",
]);

export function errorHeaders(
  codes: readonly ErrorCode[],
  components: Components,
): Readonly<Record<string, Reference>> {
  return headerReferences(
    [
      ...(codes.every((code) => withoutQuota.has(code)) ? ["X-Request-Id"] : quotaHeaders),
      ...(codes.some(hasRetryAfter) ? ["Retry-After"] : []),
      ...(codes.some((code) => withChallenge.has(code)) ? ["WWW-Authenticate"] : []),
      ...(codes.includes("precondition_failed") ? ["ETag"] : []),
      ...(codes.includes("unsupported_media_type") ? ["Accept-Encoding"] : []),
    ],
    components,
  );
}

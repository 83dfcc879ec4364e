// oidc-provider 9.13 reports missing or malformed client authentication as 400 `invalid_request`, and sends no
// WWW-Authenticate if the request has no Authorization header. RFC 6749, section 5.2: 401 `invalid_client`, with the
// scheme that the client should use.

import { routes } from "../routes.ts";
import { type Answer, type ErrorBody, errorBodyOf } from "./answer.ts";

const notAuthenticated = "no client authentication mechanism provided";
/** Descriptions of an Authorization header that identifies no client. */
const malformed = /\bauthorization header\b/i;

/** @param issuer the realm of the challenge */
export function challengeClient(issuer: string): (answer: Answer) => void {
  return (answer) => {
    const error = errorBodyOf(answer.body);
    if (!error) return;
    // At the userinfo endpoint the header holds an access token.
    if (answer.path !== routes.userinfo && isMissingAuthentication(error)) {
      answer.status = 401;
      error.error = "invalid_client";
    }
    if (answer.status !== 401 || error.error !== "invalid_client") return;
    if (!answer.response.get("WWW-Authenticate"))
      answer.set("WWW-Authenticate", `Basic realm="${issuer}", error="invalid_client"`);
  };
}

function isMissingAuthentication({ error, error_description: text = "" }: ErrorBody): boolean {
  return error === "invalid_request" && (text === notAuthenticated || malformed.test(text));
}

// What clients are told who do not show who they are, or ask for what they may not: RFC 6749, section 5.2, where the
// library says something else, and an end to guesses of secrets.

import type Provider from "oidc-provider";
import type { KoaContextWithOIDC } from "oidc-provider";
import type { BruteForceLimits } from "../endpoints/brute-force-limits.ts";
import { tooManyAttemptsMessage } from "../interaction/page-request.ts";
import { routes } from "./configuration.ts";
import { addressOf } from "./mounted-request.ts";

interface ErrorBody {
  error: string;
  error_description?: string;
}

const notAuthenticated = "no client authentication mechanism provided";
/** What the library says of a header that shows no client; at `/userinfo` it is about a token. */
const malformed = /\bauthorization header\b/i;
/** At the token endpoint "requested grant type is ..."; where devices begin, the type stands there. */
const notAllowed = / is not allowed for this client$/;

export function fixClientErrors(provider: Provider, bruteForce: BruteForceLimits): void {
  const { issuer } = provider;
  provider.use(async (context, next) => {
    await next();
    const body = errorBodyOf(context.body);
    if (!body) return;
    if (body.error === "invalid_request" && notAllowed.test(body.error_description ?? ""))
      body.error = "unauthorized_client";
    const isFailedAuthentication = context.status === 401 && body.error === "invalid_client";
    if (context.path !== routes.userinfo && isMissingAuthentication(body)) {
      context.status = 401;
      body.error = "invalid_client";
    }
    if (isFailedAuthentication) await countFailedClient(context, bruteForce);
    if (
      context.status === 401 &&
      body.error === "invalid_client" &&
      !context.response.get("WWW-Authenticate")
    )
      context.set("WWW-Authenticate", `Basic realm="${issuer}", error="invalid_client"`);
  });
}

function isMissingAuthentication({ error, error_description: text = "" }: ErrorBody): boolean {
  return error === "invalid_request" && (text === notAuthenticated || malformed.test(text));
}

function errorBodyOf(body: unknown): ErrorBody | undefined {
  const isErrorBody = typeof body === "object" && body !== null && "error" in body;
  return isErrorBody ? (body as ErrorBody) : undefined;
}

/** As with keys, good ones are taken whatever others from the same address sent. */
async function countFailedClient(
  context: Pick<KoaContextWithOIDC, "req" | "status" | "body" | "set" | "remove">,
  bruteForce: BruteForceLimits,
): Promise<void> {
  const seconds = await bruteForce.secondsToWaitForClient(addressOf(context.req));
  if (seconds === 0) return;
  context.status = 429;
  context.body = { error: "temporarily_unavailable", error_description: tooManyAttemptsMessage(seconds) };
  context.set("Retry-After", String(seconds));
  context.remove("WWW-Authenticate");
}

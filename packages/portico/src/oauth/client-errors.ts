// What clients are told who do not show who they are, or ask for what they may not: RFC 6749, section 5.2, where the
// library says something else, and an end to guesses of secrets.

import type Provider from "oidc-provider";
import type { KoaContextWithOIDC } from "oidc-provider";
import { routes } from "./configuration.ts";
import { tooManyTries } from "./exchange.ts";
import type { Guesses } from "./guesses.ts";
import { addressOf } from "./mounted-request.ts";

interface Told {
  error: string;
  error_description?: string;
}

const notAuthenticated = "no client authentication mechanism provided";
/** What the library says of a header that shows no client; at `/userinfo` it is about a token. */
const malformed = /\bauthorization header\b/i;
/** At the token endpoint "requested grant type is ..."; where devices begin, the type stands there. */
const notAllowed = / is not allowed for this client$/;

export function mendClientErrors(provider: Provider, guesses: Guesses): void {
  const { issuer } = provider;
  provider.use(async (context, next) => {
    await next();
    const told = toldOf(context.body);
    if (!told) return;
    if (told.error === "invalid_request" && notAllowed.test(told.error_description ?? ""))
      told.error = "unauthorized_client";
    const isGuess = context.status === 401 && told.error === "invalid_client";
    if (context.path !== routes.userinfo && isUnshown(told)) {
      context.status = 401;
      told.error = "invalid_client";
    }
    if (isGuess) await countGuess(context, guesses);
    if (
      context.status === 401 &&
      told.error === "invalid_client" &&
      !context.response.get("WWW-Authenticate")
    )
      context.set("WWW-Authenticate", `Basic realm="${issuer}", error="invalid_client"`);
  });
}

function isUnshown({ error, error_description: text = "" }: Told): boolean {
  return error === "invalid_request" && (text === notAuthenticated || malformed.test(text));
}

function toldOf(body: unknown): Told | undefined {
  const isTold = typeof body === "object" && body !== null && "error" in body;
  return isTold ? (body as Told) : undefined;
}

/** As with keys, good ones are taken whatever others from the same address sent. */
async function countGuess(
  context: Pick<KoaContextWithOIDC, "req" | "status" | "body" | "set" | "remove">,
  guesses: Guesses,
): Promise<void> {
  const seconds = await guesses.secondsToWaitForClient(addressOf(context.req));
  if (seconds === 0) return;
  context.status = 429;
  context.body = { error: "temporarily_unavailable", error_description: tooManyTries(seconds) };
  context.set("Retry-After", String(seconds));
  context.remove("WWW-Authenticate");
}

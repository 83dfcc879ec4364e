// Slows down brute-force attacks on the secrets of clients: failed client authentication is counted by network address.

import type Provider from "oidc-provider";
import type { KoaContextWithOIDC } from "oidc-provider";
import type { BruteForceLimits } from "../endpoints/brute-force-limits.ts";
import { tooManyAttemptsMessage } from "../interaction/page-request.ts";
import { errorBodyOf } from "./patches/answer.ts";
import { addressOf } from "./patches/mounted-request.ts";

export function limitFailedClients(provider: Provider, bruteForce: BruteForceLimits): void {
  provider.use(async (context, next) => {
    await next();
    if (context.status === 401 && errorBodyOf(context.body)?.error === "invalid_client")
      await countFailedClient(context, bruteForce);
  });
}

/** Beyond the limit the response is 429. Correct secrets work in any case, whatever the address sent before. */
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

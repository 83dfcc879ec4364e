// oidc-provider 9.13 sends no `interval` with a device code and never responds with `slow_down`. Portico sends the
// interval (RFC 8628, section 3.2) and slows down devices that poll far more often than that (section 3.5).

import type Provider from "oidc-provider";
import type { BruteForceLimits } from "../../endpoints/brute-force-limits.ts";
import type { Library } from "../library.ts";

/** Seconds that a device waits between two polls. */
const pollIntervalSeconds = 5;

export function sendPollInterval(provider: Provider): void {
  provider.on("device_authorization.success", (_context, body) =>
    Object.assign(body, { interval: pollIntervalSeconds }),
  );
}

/** Counts a look-up of a device code by the token endpoint. @throws SlowDown */
export async function limitPolling(
  { Provider, errors }: Library,
  bruteForce: BruteForceLimits,
  deviceCode: string,
): Promise<void> {
  if (Provider.ctx?.oidc.route !== "token") return;
  if (await bruteForce.pollsTooFast(deviceCode)) throw new errors.SlowDown();
}

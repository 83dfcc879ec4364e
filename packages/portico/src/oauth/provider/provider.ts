// oidc-provider with Portico's configuration and patches.

import type Provider from "oidc-provider";
import { LoggedProblem } from "../../errors.ts";
import { configuration, type Settings } from "./configuration.ts";
import { limitFailedClients } from "./failed-clients.ts";
import type { PatchAnswer } from "./patches/answer.ts";
import { sendPollInterval } from "./patches/device-polling.ts";
import { logKoaErrors } from "./patches/disconnects.ts";
import { showSignedOut } from "./patches/end-session.ts";
import { compareHashedSecrets } from "./patches/hashed-client-secrets.ts";
import { addSubject } from "./patches/introspection-subject.ts";
import { challengeClient } from "./patches/missing-client-authentication.ts";
import { trustMountedHeaders } from "./patches/mounted-request.ts";
import { reportOutages } from "./patches/outages.ts";
import { listResponseModes } from "./patches/response-modes.ts";
import { persistNewSessions } from "./patches/session-persist.ts";
import { reportUnauthorizedClient } from "./patches/unauthorized-client.ts";

export function buildProvider(settings: Settings, logError: (error: unknown) => void): Provider {
  const { library, issuer, storage } = settings;
  const provider = new library.Provider(issuer.issuer, configuration(settings));
  trustMountedHeaders(provider);
  compareHashedSecrets(provider);
  persistNewSessions(provider, library);
  sendPollInterval(provider);
  provider.on("server_error", (_context: unknown, error: unknown) => {
    if (!(error instanceof LoggedProblem)) logError(error);
  });
  logKoaErrors(provider, logError);
  // Koa runs these around the library's own middleware, the first one outermost.
  reportOutages(provider, issuer);
  patchAnswers(provider, [
    listResponseModes,
    addSubject,
    reportUnauthorizedClient,
    challengeClient(issuer.issuer),
  ]);
  limitFailedClients(provider, storage.bruteForce);
  showSignedOut(provider, issuer);
  return provider;
}

/** One middleware for all patches of responses. */
function patchAnswers(provider: Provider, patches: readonly PatchAnswer[]): void {
  provider.use(async (context, next) => {
    await next();
    for (const patch of patches) patch(context);
  });
}

// oidc-provider set up as Portico needs it: what it would do otherwise by itself.

import type { EventEmitter } from "node:events";
import type Provider from "oidc-provider";
import type { KoaContextWithOIDC } from "oidc-provider";
import { type ClientSecret, isSecretOf } from "../../auth/clients/lookup.ts";
import { LoggedProblem } from "../../errors.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import { pollInterval } from "../interaction/device-flow.ts";
import { signedOutPage } from "../pages/plain-pages.ts";
import { responseModes } from "./adapter.ts";
import { fixClientErrors } from "./client-errors.ts";
import {
  configuration,
  cookieNames,
  longCookie,
  routes,
  type Settings,
  showPage,
  unusedSessionSeconds,
} from "./configuration.ts";
import type { Library } from "./library.ts";
import { handleOutages } from "./outages.ts";

export function buildProvider(settings: Settings, logError: (error: unknown) => void): Provider {
  const { library, issuer, storage } = settings;
  const provider = new library.Provider(issuer.issuer, configuration(settings));
  // The forwarding headers are our own: see mounted-request.ts.
  provider.proxy = true;
  provider.use((context, next) =>
    context.path === routes.token ? next() : completeResponses(context, next),
  );
  handleOutages(provider, issuer);
  fixClientErrors(provider, storage.bruteForce);
  provider.use((context, next) =>
    context.path === routes.end_session ? showSignedOut(provider, issuer, context, next) : next(),
  );
  persistNewSessions(provider, library);
  const { Client } = provider as unknown as { Client: { prototype: SecretHolder } };
  Client.prototype.compareClientSecret = function (this: SecretHolder, presented: string) {
    return isSecretOf(this.secrets, presented);
  };
  provider.on("device_authorization.success", (_context, body) =>
    Object.assign(body, { interval: pollInterval }),
  );
  provider.on("server_error", (_context: unknown, error: unknown) => {
    if (!(error instanceof LoggedProblem)) logError(error);
  });
  // Koa's own, which the types of the library leave out.
  (provider as EventEmitter).on("error", (error) => {
    if (!isDisconnect(error)) logError(error);
  });
  return provider;
}

const disconnectCodes: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE"]);

/** Whether the caller left while the answer was written: no fault of ours, and whoever likes could fill the log with it. */
function isDisconnect(error: unknown): boolean {
  if (!(error instanceof Error) || !("headerSent" in error) || !("code" in error)) return false;
  return error.headerSent === true && disconnectCodes.has(error.code);
}

/** A client that acts for itself is the subject of its token (RFC 9068, section 2.2), which the library leaves out. */
function addSubject(body: unknown): void {
  if (typeof body !== "object" || body === null || !("active" in body) || !body.active) return;
  if (!("sub" in body) && "client_id" in body) Object.assign(body, { sub: body.client_id });
}

/** The library tells of every mode that it knows, and of no subject of its own. */
async function completeResponses(
  { path, response }: Pick<KoaContextWithOIDC, "path" | "response">,
  next: () => Promise<void>,
): Promise<void> {
  await next();
  if (path.startsWith("/.well-known/") && response.status === 200)
    Object.assign(response.body as object, { response_modes_supported: responseModes });
  if (path === routes.introspection) addSubject(response.body);
}

/** To who is not signed in the library shows a form that a script sends on, and keeps a session for it. */
async function showSignedOut(
  provider: Provider,
  issuer: Issuer,
  context: Pick<KoaContextWithOIDC, "req" | "res" | "type" | "body">,
  next: () => Promise<void>,
): Promise<void> {
  const { req, res } = context;
  // The library's types do not know that it takes any context of its own.
  const session = await provider.Session.get(provider.createContext(req, res) as never);
  if (session.accountId !== undefined) return next();
  showPage(context, signedOutPage(issuer));
}

/**
 * A fault on the pages for devices gives a session its first state after the session was looked at, and the library
 * then fails to keep it; the form of that page would be refused as well.
 */
function persistNewSessions(provider: Provider, library: Library): void {
  const session = provider.Session.prototype as unknown as StoredSession;
  const { persist } = session;
  session.persist = async function (this: StoredSession) {
    if (typeof this.exp === "number") return persist.call(this);
    library.Provider.ctx?.oidc.cookies.set(cookieNames.session, this.id, longCookie(provider.issuer));
    return this.save(unusedSessionSeconds);
  };
}

interface StoredSession {
  readonly id: string;
  readonly exp?: number;
  persist(): Promise<unknown>;
  save(seconds: number): Promise<unknown>;
}

interface SecretHolder {
  readonly secrets: readonly ClientSecret[];
  compareClientSecret(presented: string): boolean;
}

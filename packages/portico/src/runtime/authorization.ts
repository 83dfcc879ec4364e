// Composes the authorization server, and the authentication of access tokens: its own and those of another issuer.

import { OAuthClientLookup } from "../auth/clients/lookup.ts";
import { InvitationLinks } from "../auth/invitations/acceptance.ts";
import { InvitationEmailQueue } from "../auth/invitations/invitation-emails.ts";
import { systemCaller } from "../auth/system-caller.ts";
import { findTenant } from "../auth/tenants/tenant.ts";
import { AccessTokens } from "../auth/tokens/access-tokens.ts";
import { FileSigningKeys } from "../auth/tokens/file-signing-keys.ts";
import { OAuthRecords } from "../auth/tokens/oauth-records.ts";
import type { OAuthUrls } from "../auth/tokens/oauth-urls.ts";
import { SigningKeyRing, StoredSigningKeys } from "../auth/tokens/signing-keys.ts";
import { IntrospectedTokens, TokenAuthenticator } from "../auth/tokens/token-introspection.ts";
import { AccountEmailQueue } from "../auth/users/account-email-queue.ts";
import { EmailChanges } from "../auth/users/email-changes.ts";
import { EmailLinks, type SetEmail } from "../auth/users/email-links.ts";
import { UserLookup } from "../auth/users/lookup.ts";
import type { RowsIn } from "../auth/users/new-account.ts";
import { Passkeys } from "../auth/users/passkeys.ts";
import { users } from "../auth/users/resource.ts";
import { SignInSessions } from "../auth/users/sign-in-sessions.ts";
import { SignUps } from "../auth/users/sign-up.ts";
import type { Engine } from "../engine/engine.ts";
import type { Logger } from "../http/logging/log.ts";
import { Encryption } from "../lib/encryption.ts";
import type { Report } from "../lib/report.ts";
import { TokenBuckets } from "../limits/token-bucket.ts";
import { AccountEmails } from "../mail/account-emails.ts";
import { AuthorizationServer } from "../oauth/authorization-server.ts";
import { BruteForceLimits } from "../oauth/endpoints/brute-force-limits.ts";
import { RemoteKeySets } from "../oauth/provider/key-sets.ts";
import type { Store } from "../store/store.ts";
import { brandOf } from "./brand.ts";
import type { Assembly } from "./compose.ts";
import { emailSettings } from "./email-settings.ts";
import { introspectionOf, type Settings } from "./settings/settings.ts";

export function authorizationServer(
  store: Store,
  engine: Engine,
  { app, model, settings, invitations }: Assembly,
  secrets: readonly string[],
  urls: Promise<OAuthUrls>,
  logger: Logger,
): AuthorizationServer {
  const encryption = new Encryption(secrets);
  const records = new OAuthRecords(store, encryption);
  const signingKeyFile = settings.signingKey;
  const keys = new SigningKeyRing(
    signingKeyFile === undefined
      ? new StoredSigningKeys(store, encryption)
      : new FileSigningKeys(signingKeyFile, (message, details) => logger.warn(details, message)),
  );
  const tokens = new AccessTokens(store, records, keys, urls, settings.keyQuota, model);
  const userLookup = new UserLookup(store);
  const sessions = new SignInSessions(store, records);
  const emails = new AccountEmails(store, model, emailSettings(app, settings));
  const passkeys = new Passkeys(store, emails);
  const changes = new EmailChanges(store);
  const rowsIn: RowsIn = (session, caller) => engine.rowsIn(session, caller);
  const setEmail: SetEmail = async (session, { id, tenantId }, email) => {
    await rowsIn(session, systemCaller(model, tenantId)).update(users, id, { email });
  };
  const signUps = new SignUps(
    { store, records, users: userLookup, emails, model, rowsIn, urls },
    app.signUp === "open" ? app.signUpRole : undefined,
  );
  const invitationLinks = new InvitationLinks(store, records, model, invitations, rowsIn);
  const report: Report = (message, details) => logger.warn(details, message);
  const links = new EmailLinks(
    store,
    records,
    userLookup,
    passkeys,
    sessions,
    emails,
    urls,
    changes,
    setEmail,
  );
  const dependencies = {
    users: userLookup,
    sessions,
    keySets: new RemoteKeySets(settings.mode === "sandbox"),
    passkeys,
    clients: new OAuthClientLookup(store),
    bruteForce: new BruteForceLimits(new TokenBuckets(), settings.failedAuthQuota),
    links,
    signUps,
    invitationLinks,
    emailQueue: new AccountEmailQueue(
      { store, records, users: userLookup, emails, links, changes, signUps },
      report,
    ),
    invitationEmails: new InvitationEmailQueue(store, invitationLinks, emails, urls, report),
  };
  const brand = brandOf(app, settings);
  return new AuthorizationServer(
    { ...dependencies, records, keys, tokens, secrets, urls, brand, model, engine },
    (error) => logger.error({ err: error }, "the authorization server failed"),
  );
}

/** Authenticates access tokens: the server's own, and those of the issuer in PORTICO_INTROSPECTION_URL. */
export function tokenAuthenticator(
  store: Store,
  settings: Settings,
  { dependencies: { tokens, urls } }: AuthorizationServer,
  logger: Logger,
): Pick<AccessTokens, "caller"> {
  const introspection = introspectionOf(settings);
  if (!introspection) return tokens;
  const tenantId = async (): Promise<string> => (await findTenant(store, introspection.tenantId)).id;
  const resource = urls.then((known) => known.resource);
  const introspected = new IntrospectedTokens(
    introspection,
    tenantId,
    resource,
    settings.keyQuota,
    (message, details) => logger.warn(details, message),
  );
  return new TokenAuthenticator(tokens, introspected);
}

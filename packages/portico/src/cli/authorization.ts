// The authorization server put together, and whoever verifies what it and another one give out.

import type { Engine } from "../engine/engine.ts";
import { MailedAccountEmails } from "../events/mail/mailed-account-letters.ts";
import type { Logger } from "../http/log.ts";
import { AccessTokens, type OAuthUrls } from "../identity/access-token.ts";
import { AccountMails } from "../identity/account-mails.ts";
import { EmailChanges } from "../identity/email-changes.ts";
import { IntrospectedTokens, TokenAuthenticator } from "../identity/foreign-tokens.ts";
import { FileSigningKeys } from "../identity/given-signing-keys.ts";
import { MailedLinks, type SetEmail } from "../identity/mailed-links.ts";
import { OAuthClientLookup } from "../identity/oauth-client-lookup.ts";
import { OAuthRecords } from "../identity/oauth-records.ts";
import { Passkeys } from "../identity/passkeys.ts";
import { UserLookup } from "../identity/person.ts";
import { Encryption } from "../identity/seal.ts";
import { SignInSessions } from "../identity/sign-in-sessions.ts";
import { SigningKeyRing, StoredSigningKeys } from "../identity/signing-keys.ts";
import { systemCaller } from "../identity/system-caller.ts";
import { findTenant } from "../identity/tenant.ts";
import { users } from "../identity/user.ts";
import { TokenBuckets } from "../limits/token-bucket.ts";
import { AuthorizationServer } from "../oauth/authorization-server.ts";
import { BruteForceLimits } from "../oauth/guesses.ts";
import { RemoteKeySets } from "../oauth/key-sets.ts";
import type { Store } from "../store/store.ts";
import type { Assembly } from "./assemble.ts";
import { brandOf } from "./brand.ts";
import { emailSettings } from "./notices.ts";
import type { Settings } from "./settings.ts";

export function authorizationServer(
  store: Store,
  engine: Engine,
  { app, model, settings }: Assembly,
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
  const tokens = new AccessTokens(store, records, keys, urls, settings.keyQuota);
  const userLookup = new UserLookup(store);
  const sessions = new SignInSessions(store, records);
  const emails = new MailedAccountEmails(store, model, emailSettings(app, settings));
  const passkeys = new Passkeys(store, emails);
  const changes = new EmailChanges(store);
  const setEmail: SetEmail = async (session, { id, tenantId }, email) => {
    await engine.rowsIn(session, systemCaller(model, tenantId)).update(users, id, { email });
  };
  const links = new MailedLinks(
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
  const known = {
    users: userLookup,
    sessions,
    keySets: new RemoteKeySets(settings.mode === "sandbox"),
    passkeys,
    clients: new OAuthClientLookup(store),
    bruteForce: new BruteForceLimits(new TokenBuckets(), settings.failedAuthQuota),
    links,
    mails: new AccountMails(
      { store, records, users: userLookup, emails, links, changes },
      (message, details) => logger.warn(details, message),
    ),
  };
  const brand = brandOf(app, settings);
  return new AuthorizationServer(
    { ...known, records, keys, tokens, secrets, urls, brand, scopes: model.scopes },
    (error) => logger.error({ err: error }, "the authorization server failed"),
  );
}

/** Whoever verifies what is presented as a token: ours, and those of the other issuer that the settings name. */
export function tokenAuthenticator(
  store: Store,
  { introspection, keyQuota }: Settings,
  { dependencies: { tokens, urls } }: AuthorizationServer,
  logger: Logger,
): Pick<AccessTokens, "caller"> {
  if (!introspection) return tokens;
  const tenantId = async (): Promise<string> => (await findTenant(store, introspection.tenantId)).id;
  const resource = urls.then((known) => known.resource);
  const introspected = new IntrospectedTokens(
    introspection,
    tenantId,
    resource,
    keyQuota,
    (message, details) => logger.warn(details, message),
  );
  return new TokenAuthenticator(tokens, introspected);
}

// The authorization server put together, and whoever verifies what it and another one give out.

import type { Engine } from "../engine/engine.ts";
import { MailedAccountLetters } from "../events/mail/mailed-account-letters.ts";
import type { Logger } from "../http/log.ts";
import { AccessTokens, type OAuthUrls } from "../identity/access-token.ts";
import { AccountMails } from "../identity/account-mails.ts";
import { EmailChanges } from "../identity/email-changes.ts";
import { EveryToken, ForeignTokens } from "../identity/foreign-tokens.ts";
import { GivenSigningKeys } from "../identity/given-signing-keys.ts";
import { MailedLinks, type SetEmail } from "../identity/mailed-links.ts";
import { OAuthClientLookup } from "../identity/oauth-client-lookup.ts";
import { OAuthRecords } from "../identity/oauth-records.ts";
import { Passkeys } from "../identity/passkeys.ts";
import { People } from "../identity/person.ts";
import { Seal } from "../identity/seal.ts";
import { SignInSessions } from "../identity/sign-in-sessions.ts";
import { KeptSigningKeys, SigningKeyRing } from "../identity/signing-keys.ts";
import { systemCaller } from "../identity/system-caller.ts";
import { findTenant } from "../identity/tenant.ts";
import { users } from "../identity/user.ts";
import { TokenBuckets } from "../limits/token-bucket.ts";
import { AuthorizationServer } from "../oauth/authorization-server.ts";
import { Guesses } from "../oauth/guesses.ts";
import { KeySets } from "../oauth/key-sets.ts";
import type { Store } from "../store/store.ts";
import type { Assembly } from "./assemble.ts";
import { brandOf } from "./brand.ts";
import { letterhead } from "./notices.ts";
import type { Settings } from "./settings.ts";

export function authorizationServer(
  store: Store,
  engine: Engine,
  { app, model, settings }: Assembly,
  secrets: readonly string[],
  urls: Promise<OAuthUrls>,
  logger: Logger,
): AuthorizationServer {
  const seal = new Seal(secrets);
  const records = new OAuthRecords(store, seal);
  const given = settings.signingKey;
  const keys = new SigningKeyRing(
    given === undefined
      ? new KeptSigningKeys(store, seal)
      : new GivenSigningKeys(given, (message, details) => logger.warn(details, message)),
  );
  const tokens = new AccessTokens(store, records, keys, urls, settings.keyQuota);
  const people = new People(store);
  const sessions = new SignInSessions(store, records);
  const letters = new MailedAccountLetters(store, model, letterhead(app, settings));
  const passkeys = new Passkeys(store, letters);
  const changes = new EmailChanges(store);
  const setEmail: SetEmail = async (session, { id, tenantId }, email) => {
    await engine.rowsWithin(session, systemCaller(model, tenantId)).change(users, id, { email });
  };
  const links = new MailedLinks(store, records, people, passkeys, sessions, letters, urls, changes, setEmail);
  const known = {
    people,
    sessions,
    keySets: new KeySets(settings.mode === "sandbox"),
    passkeys,
    clients: new OAuthClientLookup(store),
    guesses: new Guesses(new TokenBuckets(), settings.failedAuthQuota),
    links,
    mails: new AccountMails({ store, records, people, letters, links, changes }, (message, details) =>
      logger.warn(details, message),
    ),
  };
  const brand = brandOf(app, settings);
  return new AuthorizationServer(
    { ...known, records, keys, tokens, secrets, urls, brand, scopes: model.scopes },
    (error) => logger.error({ err: error }, "the authorization server failed"),
  );
}

/** Whoever verifies what is presented as a token: ours, and those of the other issuer that the settings name. */
export function everyToken(
  store: Store,
  { introspection, keyQuota }: Settings,
  { parts: { tokens, urls } }: AuthorizationServer,
  logger: Logger,
): Pick<AccessTokens, "caller"> {
  if (!introspection) return tokens;
  const tenantId = async (): Promise<string> => (await findTenant(store, introspection.tenantId)).id;
  const resource = urls.then((known) => known.resource);
  const foreign = new ForeignTokens(introspection, tenantId, resource, keyQuota, (message, details) =>
    logger.warn(details, message),
  );
  return new EveryToken(tokens, foreign);
}

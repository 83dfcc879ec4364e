// The authorization server while it runs: oidc-provider on the present keys, made anew when they change.

import type Provider from "oidc-provider";
import type { AccessTokens, OAuthUrls } from "../identity/access-token.ts";
import type { AccountMails } from "../identity/account-mails.ts";
import type { MailedLinks } from "../identity/mailed-links.ts";
import type { OAuthClientLookup } from "../identity/oauth-client-lookup.ts";
import type { OAuthRecords } from "../identity/oauth-records.ts";
import type { Passkeys } from "../identity/passkeys.ts";
import type { UserLookup } from "../identity/person.ts";
import type { SignInSessions } from "../identity/sign-in-sessions.ts";
import type { SigningKey, SigningKeyRing } from "../identity/signing-keys.ts";
import type { Brand } from "./brand.ts";
import type { BruteForceLimits } from "./guesses.ts";
import { type Handler, handlerOf } from "./handler.ts";
import type { RemoteKeySets } from "./key-sets.ts";
import { type Library, loadLibrary } from "./library.ts";
import { buildProvider } from "./provider.ts";
import { type Issuer, issuerOf } from "./site.ts";

export interface AuthorizationServerDependencies {
  readonly records: OAuthRecords;
  readonly clients: OAuthClientLookup;
  readonly tokens: AccessTokens;
  readonly users: UserLookup;
  readonly passkeys: Passkeys;
  readonly links: MailedLinks;
  readonly mails: AccountMails;
  readonly sessions: SignInSessions;
  readonly keys: SigningKeyRing;
  readonly bruteForce: BruteForceLimits;
  /** Newest first; cookies are signed with what derives from them. */
  readonly secrets: readonly string[];
  readonly keySets: RemoteKeySets;
  /** Known once the server listens. */
  readonly urls: Promise<OAuthUrls>;
  readonly brand: Brand;
  readonly scopes: readonly string[];
}

/** The library set up on a set of keys. */
export interface RunningProvider {
  readonly provider: Provider;
  readonly handle: Handler;
  readonly issuer: Issuer;
}

export class AuthorizationServer {
  readonly dependencies: AuthorizationServerDependencies;
  readonly #logError: (error: unknown) => void;
  #library: Promise<Library> | undefined;
  #keys: readonly SigningKey[] = [];
  #running: Promise<RunningProvider> | undefined;

  constructor(dependencies: AuthorizationServerDependencies, logError: (error: unknown) => void) {
    this.dependencies = dependencies;
    this.#logError = logError;
  }

  /** The one that runs on the present keys. Requests that are under way end on the one they began with. */
  async running(): Promise<RunningProvider> {
    const keys = await this.dependencies.keys.keys();
    if (!this.#running || nameOf(keys) !== nameOf(this.#keys)) {
      this.#keys = keys;
      this.#running = this.#start(keys);
    }
    return this.#running;
  }

  async #start(keys: readonly SigningKey[]): Promise<RunningProvider> {
    const { urls, brand, scopes, records, clients, tokens, users, bruteForce, sessions, secrets, keySets } =
      this.dependencies;
    const issuer = issuerOf(await urls, brand, scopes);
    this.#library ??= loadLibrary();
    const library = await this.#library;
    const storage = { records, clients, users, tokens, bruteForce, sessions };
    const settings = { library, storage, issuer, keys, secrets, keySets };
    const provider = buildProvider(settings, this.#logError);
    return { provider, handle: handlerOf(provider), issuer };
  }
}

function nameOf(keys: readonly SigningKey[]): string {
  return keys.map(({ kid }) => kid).join();
}

// The running authorization server: oidc-provider with the current signing keys, built again when they change.

import type Provider from "oidc-provider";
import type { OAuthClientLookup } from "../auth/clients/lookup.ts";
import type { InvitationLinks } from "../auth/invitations/acceptance.ts";
import type { InvitationEmailQueue } from "../auth/invitations/invitation-emails.ts";
import type { AccessTokens } from "../auth/tokens/access-tokens.ts";
import type { OAuthRecords } from "../auth/tokens/oauth-records.ts";
import type { OAuthUrls } from "../auth/tokens/oauth-urls.ts";
import type { SigningKey, SigningKeyRing } from "../auth/tokens/signing-keys.ts";
import type { AccountEmailQueue } from "../auth/users/account-email-queue.ts";
import type { EmailLinks } from "../auth/users/email-links.ts";
import type { UserLookup } from "../auth/users/lookup.ts";
import type { Passkeys } from "../auth/users/passkeys.ts";
import type { SignInSessions } from "../auth/users/sign-in-sessions.ts";
import type { SignUps } from "../auth/users/sign-up.ts";
import type { Engine } from "../engine/engine.ts";
import type { Model } from "../model/model.ts";
import type { BruteForceLimits } from "./endpoints/brute-force-limits.ts";
import { type Issuer, issuerOf } from "./endpoints/issuer.ts";
import type { Brand } from "./pages/brand.ts";
import type { RemoteKeySets } from "./provider/key-sets.ts";
import { type Library, loadLibrary } from "./provider/library.ts";
import { type Handler, handlerOf } from "./provider/patches/context-release.ts";
import { buildProvider } from "./provider/provider.ts";

export interface AuthorizationServerDependencies {
  readonly records: OAuthRecords;
  readonly clients: OAuthClientLookup;
  readonly tokens: AccessTokens;
  readonly users: UserLookup;
  readonly passkeys: Passkeys;
  readonly links: EmailLinks;
  readonly emailQueue: AccountEmailQueue;
  readonly signUps: SignUps;
  readonly invitationLinks: InvitationLinks;
  readonly invitationEmails: InvitationEmailQueue;
  readonly sessions: SignInSessions;
  readonly keys: SigningKeyRing;
  readonly bruteForce: BruteForceLimits;
  /** Newest first. Cookies and forms are signed with keys derived from them. */
  readonly secrets: readonly string[];
  readonly keySets: RemoteKeySets;
  /** Resolved once the server listens. */
  readonly urls: Promise<OAuthUrls>;
  readonly brand: Brand;
  /** With every scope of the API, and the roles of users. */
  readonly model: Model;
  /** What people do on the pages that manage users passes through it, like requests. */
  readonly engine: Engine;
}

/** oidc-provider with one set of signing keys. */
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

  /** The provider with the current signing keys. Requests in progress keep the one they began with. */
  async running(): Promise<RunningProvider> {
    const keys = await this.dependencies.keys.keys();
    if (!this.#running || nameOf(keys) !== nameOf(this.#keys)) {
      this.#keys = keys;
      this.#running = this.#start(keys);
    }
    return this.#running;
  }

  async #start(keys: readonly SigningKey[]): Promise<RunningProvider> {
    const { urls, brand, model, records, clients, tokens, users, bruteForce, sessions, secrets, keySets } =
      this.dependencies;
    const issuer = issuerOf(await urls, brand, model);
    this.#library ??= loadLibrary();
    const library = await this.#library;
    const storage = { records, clients, users, tokens, bruteForce, sessions, roles: model.roles };
    const settings = { library, storage, issuer, keys, secrets, keySets };
    const provider = buildProvider(settings, this.#logError);
    return { provider, handle: handlerOf(provider), issuer };
  }
}

function nameOf(keys: readonly SigningKey[]): string {
  return keys.map(({ kid }) => kid).join();
}

// The caller of a request, after its credential was verified.

/**
 * What presented the credential: a secret API key, a user through a client, a client that acts for itself, nobody in
 * particular (a publishable key, or no credential at all), or the server itself, in commands and the seed.
 */
export type CallerKind = "key" | "user" | "client" | "anonymous" | "system";

export interface Caller {
  readonly kind: CallerKind;
  readonly tenantId: string;
  /** The user that the caller acts for: of a token, or the owner of a key. Null for one that acts for no user. */
  readonly userId: string | null;
  /** The role of that user at the time of the request. Null without a user. */
  readonly role: string | null;
  /** Identifies the caller in quotas, events and logs: the id of an API key, of a client and its user, or `anonymous`. */
  readonly credentialId: string;
  /** Whether a user granted this access to an application, by an access token. */
  readonly isDelegated?: boolean | undefined;
  /** The client and the grant of an access token of this server; a client that acts for itself has no grant. */
  readonly clientId?: string | undefined;
  readonly grantId?: string | undefined;
  /** The API key of the request; undefined for other credentials. Requests of keys are counted and logged. */
  readonly keyId?: string | undefined;
  /** What the caller may do: the scopes of the credential that the role of its user includes. */
  readonly scopes: ReadonlySet<string>;
  /** The scopes of the credential that the role lacks, for messages. */
  readonly scopesOutsideRole?: ReadonlySet<string> | undefined;
  /** What the quota is counted by, if not by the credential: an anonymous caller has one for each network address. */
  readonly quotaBucket?: string | undefined;
  /** The quota of the credential; undefined for unlimited callers, such as the server itself. */
  readonly quota?: Quota | undefined;
  /** The network address that the request came from; undefined for a command. */
  readonly address?: string | undefined;
}

/** A limit of requests for each time window. */
export interface Quota {
  readonly limit: number;
  readonly windowSeconds: number;
}

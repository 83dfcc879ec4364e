// The caller of a request, after its credential was verified.

export interface Caller {
  readonly tenantId: string;
  /** The user that the caller acts for; undefined for an application that acts for itself. */
  readonly userId?: string | undefined;
  /** Identifies the caller in quotas, events and logs: the id of an API key, or of a client and its user. */
  readonly credentialId: string;
  /**
   * Whether a user granted this access to an application, by an access token. Such a caller can change no other user, and
   * cannot create credentials that could. API keys and applications that act for themselves have no such restriction.
   */
  readonly isDelegated?: boolean | undefined;
  /** The API key of the request; undefined for an access token. Requests of keys are counted and logged. */
  readonly keyId?: string | undefined;
  readonly scopes: ReadonlySet<string>;
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

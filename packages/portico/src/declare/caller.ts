// Who a request comes from, once its credential has been checked.

export interface Caller {
  readonly tenantId: string;
  /** The user in whose name the request comes; none for an application on its own. */
  readonly userId?: string | undefined;
  /** What identifies the caller in quotas, events and logs: an API key's id, or a client's with its user's. */
  readonly credentialId: string;
  /**
   * Whether a person granted this access to an application, as with an access token. It changes no other person, and
   * hands on nothing that could; API keys and applications that act for themselves are not held to this.
   */
  readonly isDelegated?: boolean | undefined;
  /** The API key that was shown; none where it was an access token. Uses of keys are counted and logged. */
  readonly keyId?: string | undefined;
  readonly scopes: ReadonlySet<string>;
  /** What the credential may use; undefined where nothing is counted, as for the server itself. */
  readonly quota?: Quota | undefined;
  /** The network address that the request came from; none for a command. */
  readonly address?: string | undefined;
}

/** So many requests in a window of so many seconds. */
export interface Quota {
  readonly limit: number;
  readonly windowSeconds: number;
}

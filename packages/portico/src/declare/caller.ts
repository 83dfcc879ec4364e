// Who a request comes from, once its credential has been checked.

export interface Caller {
  readonly tenantId: string;
  /** The user in whose name the request comes; none for an application on its own. */
  readonly userId?: string | undefined;
  /** What identifies the caller in quotas and logs: an API key's id, later a client's. */
  readonly credentialId: string;
  readonly scopes: ReadonlySet<string>;
}

// The callers of requests without a credential. They read what the declarations make public, in one tenant.

import type { Caller, Quota } from "../../declare/caller.ts";
import { OperatorError } from "../../errors.ts";
import { FrozenSet } from "../../lib/frozen-set.ts";
import { networkOf } from "../../net/network.ts";
import type { Store } from "../../store/store.ts";
import { findFirstTenant, findTenant } from "../tenants/tenant.ts";

/** Whose rows requests without a credential read: a tenant by its id, the first one, or nobody's. */
export type PublicTenant = { readonly id: string } | "first" | "none";

/** Nothing is granted to an anonymous caller: it reads what is public. */
export const noScopes: ReadonlySet<string> = new FrozenSet();

export class AnonymousCallers {
  readonly #store: Store;
  readonly #tenant: PublicTenant;
  readonly #quota: Quota;
  /** Undefined until there is a tenant. A tenant that was found stays the one that is served. */
  #tenantId: string | undefined;

  /** @param quota of each address */
  constructor(store: Store, tenant: PublicTenant, quota: Quota) {
    this.#store = store;
    this.#tenant = tenant;
    this.#quota = quota;
  }

  /** @throws OperatorError if the tenant does not exist */
  async requireTenant(): Promise<void> {
    if (typeof this.#tenant === "string") return;
    try {
      await findTenant(this.#store, this.#tenant.id);
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      throw new OperatorError(`PORTICO_PUBLIC_TENANT: ${error.message}`);
    }
  }

  /** The caller of a request from a network address; undefined if requests without a credential are refused. */
  async caller(address: string): Promise<Caller | undefined> {
    this.#tenantId ??= await this.#findTenantId();
    if (this.#tenantId === undefined) return undefined;
    return {
      kind: "anonymous",
      tenantId: this.#tenantId,
      userId: null,
      role: null,
      credentialId: "anonymous",
      quotaBucket: networkOf(address),
      scopes: noScopes,
      quota: this.#quota,
      address,
    };
  }

  async #findTenantId(): Promise<string | undefined> {
    if (this.#tenant === "none") return undefined;
    if (typeof this.#tenant === "object") return this.#tenant.id;
    return (await findFirstTenant(this.#store))?.id;
  }
}

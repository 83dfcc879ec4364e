// The caller that an API key makes: of a request that presented it, or of what acts for it later.

import type { Caller, Quota } from "../../declare/caller.ts";
import { networkOf } from "../../net/network.ts";
import { noScopes } from "../anonymous/anonymous-callers.ts";
import type { KeyRecord } from "./lookup.ts";

/** @param standardQuota of keys without a quota of their own */
export function callerOfKey(record: KeyRecord, standardQuota: Quota, address: string | undefined): Caller {
  const isSecret = record.type === "secret";
  return {
    // A publishable key identifies a tenant and grants nothing: its caller reads what is public.
    kind: isSecret ? "key" : "anonymous",
    tenantId: record.tenantId,
    userId: isSecret ? record.ownerId : null,
    role: isSecret ? record.role : null,
    credentialId: record.id,
    keyId: record.id,
    scopes: isSecret ? record.scopes.scopes : noScopes,
    scopesOutsideRole: isSecret ? record.scopes.scopesOutsideRole : undefined,
    // A publishable key is shared by everybody who sees it.
    quotaBucket: isSecret || address === undefined ? undefined : `${record.id} ${networkOf(address)}`,
    quota: record.quota ?? standardQuota,
    address,
  };
}

// The server itself as a caller, for commands and sample rows. They pass through the engine like any request.

import type { Caller } from "../declare/caller.ts";
import { everyScope } from "../declare/roles.ts";
import type { Model } from "../model/model.ts";

export function systemCaller(model: Model, tenantId: string, userId: string | null = null): Caller {
  const resourceScopes = model.resources.flatMap(({ scopes: { read, write } }) => [read, write]);
  const scopes = new Set([...resourceScopes, ...model.scopes, everyScope]);
  return { kind: "system", tenantId, userId, role: null, credentialId: "system", scopes };
}

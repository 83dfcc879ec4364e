// The server itself as a caller, for commands and sample rows. They pass through the engine like any request.

import type { Caller } from "../declare/caller.ts";
import type { Model } from "../model/model.ts";
import { everyScope } from "./api-keys/rules.ts";

export function systemCaller(model: Model, tenantId: string, userId?: string): Caller {
  const resourceScopes = model.resources.flatMap(({ scopes: { read, write } }) => [read, write]);
  const scopes = new Set([...resourceScopes, everyScope]);
  return { tenantId, userId, credentialId: "system", scopes };
}

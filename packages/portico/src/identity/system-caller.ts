// The server itself as a caller: for commands and sample rows, which pass through the engine like any request.

import type { Caller } from "../declare/caller.ts";
import type { Model } from "../declare/model.ts";

export function systemCaller(model: Model, tenantId: string, userId?: string): Caller {
  const scopes = new Set(model.resources.flatMap(({ scopes: { read, write } }) => [read, write]));
  return { tenantId, userId, credentialId: "system", scopes };
}

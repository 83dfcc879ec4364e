// The scopes that affect other users, or create credentials that do.

import { everyScope } from "./roles.ts";

/** The scope that changes users. */
export const usersWriteScope = "users:write";

export const administrativeScopes: ReadonlySet<string> = new Set([
  usersWriteScope,
  "keys:manage",
  "clients:manage",
  "webhooks:manage",
  everyScope,
]);

// Who may call a route.

import type { Caller } from "../declare/caller.ts";
import { requireScope } from "../engine/authorize.ts";
import { Problem } from "../errors.ts";
import type { RouteModel } from "../model/route.ts";

/** @throws Problem `insufficient_scope`, `authentication_required`, `forbidden` */
export function requireAccess(
  { isPublic, scope }: Pick<RouteModel, "isPublic" | "scope">,
  caller: Caller,
): void {
  if (scope !== null) requireScope(caller, scope);
  else if (!isPublic && caller.kind === "anonymous")
    throw new Problem("forbidden", "A publishable key is not allowed to do this. Send a secret credential.");
}

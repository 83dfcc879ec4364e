// POST and PATCH with an Idempotency-Key: the request runs once, and its repetitions get the same response.

import { requireScope } from "../engine/authorize.ts";
import { Problem } from "../errors.ts";
import { idempotencyKeyOf, respondOnce } from "../idempotency/respond-once.ts";
import type { Operation } from "../model/operations.ts";
import type { Handler, RestOptions } from "./handlers.ts";

/** @param prefix the version in the path: `/v1` */
export function idempotentHandler(
  handle: Handler,
  { scope, prefixes, resource }: Operation,
  { callerOf, idempotentRequests }: RestOptions,
  prefix: string,
): Handler {
  // The unversioned path is that of the current version.
  const ignoredPrefix = prefixes.includes("") ? prefix : "";
  return (request, reply) => {
    const key = idempotencyKeyOf(request);
    if (key === undefined) {
      if (resource.requiresIdempotencyKey) throw new Problem("idempotency_key_required");
      return handle(request, reply);
    }
    const caller = callerOf(request);
    requireScope(caller, scope);
    const repeatable = { request, reply, caller, key, ignoredPrefix };
    // Only operations that respond with a row are handled here.
    return respondOnce(idempotentRequests, repeatable, async (writes) =>
      String(await handle(request, reply, writes)),
    );
  };
}

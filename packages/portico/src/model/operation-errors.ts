// The errors that an operation can return.

import type { LooseHooks } from "../declare/hooks.ts";
import type { ErrorCode } from "../errors.ts";
import type { ResourceModel } from "./model.ts";
import type { Operation, OperationKind } from "./operations.ts";

/** What decides about the errors of an operation. */
type Failing = Pick<Operation, "kind" | "method" | "path">;

/** The errors that any operation can return. */
export const commonErrors: readonly ErrorCode[] = [
  "malformed_request",
  "credential_in_query",
  "authentication_required",
  "invalid_credential",
  "wrong_environment",
  "insufficient_scope",
  "not_acceptable",
  "validation_error",
  "rate_limited",
  "internal_error",
  "unavailable",
];

/** The errors of operations that take an Idempotency-Key. */
export const repeatableErrors: readonly ErrorCode[] = ["idempotency_in_progress", "idempotency_key_reused"];

/** The errors of operations with a method whose body is read, also where they have no use for one. */
export const bodyErrors: readonly ErrorCode[] = ["payload_too_large", "unsupported_media_type"];

/** The errors that an operation on a resource can return. */
export function errorsOf(
  { refusable, hooks, paging, requiresIdempotencyKey }: ResourceModel,
  { kind, method, path }: Failing,
): ErrorCode[] {
  const isRepeatable = method === "POST" || method === "PATCH";
  const possible: readonly [code: ErrorCode, isPossible: boolean][] = [
    ["invalid_cursor", kind === "list" && paging === "cursor"],
    ["not_found", path.includes("{")],
    ["conflict", method !== "GET"],
    ["forbidden", mayRefuse(kind, refusable) || runsCode(kind, hooks)],
    ["precondition_failed", ["get", "replace", "update", "delete"].includes(kind)],
    ["idempotency_key_required", isRepeatable && requiresIdempotencyKey],
    ...repeatableErrors.map((code): [ErrorCode, boolean] => [code, isRepeatable]),
    ...bodyErrors.map((code): [ErrorCode, boolean] => [code, method !== "GET"]),
  ];
  return [...commonErrors, ...possible.filter(([, isPossible]) => isPossible).map(([code]) => code)];
}

/** Whether a policy may refuse an operation on a row that the caller can read. */
function mayRefuse(kind: OperationKind, refusable: ResourceModel["refusable"]): boolean {
  if (kind === "create" || kind === "delete") return refusable.has(kind);
  return (kind === "replace" || kind === "update" || kind === "action") && refusable.has("update");
}

/** Whether an operation runs a hook or an action, which may refuse the write. PUT runs the hooks of updates. */
function runsCode(kind: OperationKind, { before, after }: LooseHooks): boolean {
  if (kind === "action" || kind === "collectionAction") return true;
  const name = kind === "replace" ? "update" : kind === "deleteAll" ? "delete" : kind;
  if (name !== "create" && name !== "update" && name !== "delete") return false;
  return before?.[name] !== undefined || after?.[name] !== undefined;
}

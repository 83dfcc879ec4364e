// The types of events: the resource in snake_case and what happened to it, `api_key.updated`.

import { snakeCase } from "../lib/case.ts";

/** `apiKey`, `created` -> `api_key.created` */
export function eventType(resource: string, action: string): string {
  return `${snakeCase(resource)}.${action}`;
}

/** Earlier versions stored `apiKey.changed` and `apiKey.removed`. */
const renamedActions: Readonly<Record<string, string>> = { changed: "updated", removed: "deleted" };

/**
 * The current name of a stored type. Stored types are translated when they are read, because processes of an earlier
 * version may still use the same database; `rewriteEventTypes` replaces them once none does.
 */
export function currentEventType(stored: string): string {
  const [, resource, action] = /^([^.]+)\.([^.]+)$/.exec(stored) ?? [];
  if (resource === undefined || action === undefined) return stored;
  return eventType(resource, renamedActions[action] ?? action);
}

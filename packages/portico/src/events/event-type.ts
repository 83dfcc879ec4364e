// The types of events: the resource in snake_case and what happened to it, `api_key.updated`.

import { snakeCase } from "../lib/case.ts";

/** `apiKey`, `created` -> `api_key.created` */
export function eventType(resource: string, action: string): string {
  return `${snakeCase(resource)}.${action}`;
}

/** Earlier versions stored `apiKey.changed` and `apiKey.removed`. */
const renamedActions: Readonly<Record<string, string>> = { changed: "updated", removed: "deleted" };

/**
 * The type of a stored event under its present name. Stored rows are left alone while an earlier version may still read
 * them; the migration that ends support for it rewrites them.
 */
export function currentEventType(stored: string): string {
  const dot = stored.lastIndexOf(".");
  const action = stored.slice(dot + 1);
  return `${snakeCase(stored.slice(0, dot))}.${renamedActions[action] ?? action}`;
}

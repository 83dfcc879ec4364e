// What a request for events asks for, as protocols and commands parse it.

import type { ScannedEvent } from "../events/event-reader.ts";
import { eventType } from "../events/event-type.ts";
import { snakeCase } from "../lib/case.ts";
import type { ResourceModel } from "../model/model.ts";

/** Each is undefined if it does not restrict the events. Times are ISO 8601 in UTC. */
export interface EventFilter {
  readonly types?: readonly string[] | undefined;
  /** In snake_case: `api_key`. */
  readonly resources?: readonly string[] | undefined;
  readonly resourceIds?: readonly string[] | undefined;
  readonly gte?: string | undefined;
  readonly gt?: string | undefined;
  readonly lte?: string | undefined;
  readonly lt?: string | undefined;
  /** The id of an event that precedes them. */
  readonly after?: string | undefined;
}

export interface EventListRequest {
  readonly filter: EventFilter;
  readonly isOldestFirst: boolean;
  readonly limit: number;
  readonly cursor: string | undefined;
  /** Whether to read from the cursor towards the beginning of the list. */
  readonly isBackward: boolean;
}

const actions = ["created", "updated", "deleted"];

/** The types of the events of a resource. */
export function typesOf({ name }: ResourceModel): readonly string[] {
  return actions.map((action) => eventType(name, action));
}

/** Whether events of a resource may match. */
export function mayMatch({ types, resources }: EventFilter, resource: ResourceModel): boolean {
  if (resources && !resources.includes(snakeCase(resource.name))) return false;
  return !types || typesOf(resource).some((type) => types.includes(type));
}

/** Whether an event of a resource that may match does. */
export function matches(filter: EventFilter, { type, rowId, createdAt }: ScannedEvent): boolean {
  const { types, resourceIds, gte, gt, lte, lt } = filter;
  if (types && !types.includes(type)) return false;
  if (resourceIds && !resourceIds.includes(rowId)) return false;
  if (gte !== undefined && createdAt < gte) return false;
  if (gt !== undefined && createdAt <= gt) return false;
  if (lte !== undefined && createdAt > lte) return false;
  return lt === undefined || createdAt < lt;
}

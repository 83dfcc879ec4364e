// What a request for events asks for, as protocols and commands parse it.

import type { ScannedEvent } from "../events/event-reader.ts";
import { eventType } from "../events/event-type.ts";
import { snakeCase } from "../lib/case.ts";
import { isId, timeOfId } from "../lib/id.ts";
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

/** Longer texts cannot be ids. */
const maxIdLength = 100;

/** A filter whose lists are in one order: the cursors of a list do not depend on the order of its values. */
export function sortedFilter({ types, resources, resourceIds, ...others }: EventFilter): EventFilter {
  const { gte, gt, lte, lt, after } = others;
  return {
    types: distinct(types),
    resources: distinct(resources),
    resourceIds: distinct(resourceIds?.map((id) => id.slice(0, maxIdLength))),
    ...{ gte, gt, lte, lt, after },
  };
}

function distinct(values: readonly string[] | undefined): readonly string[] | undefined {
  return values && [...new Set(values)].sort();
}

const actions = ["created", "updated", "deleted"];

/** The types of the events of a resource. */
function typesOf({ name }: ResourceModel): readonly string[] {
  return actions.map((action) => eventType(name, action));
}

/** The types and resources that a filter can name. */
export function filterChoices(
  resources: readonly ResourceModel[],
): Readonly<Record<"types" | "resources", readonly string[]>> {
  return {
    types: resources.flatMap(typesOf),
    resources: resources.map(({ name }) => snakeCase(name)),
  };
}

/** Whether events of a resource may match. */
export function mayMatch({ types, resources, resourceIds }: EventFilter, resource: ResourceModel): boolean {
  if (resourceIds && !resourceIds.some((id) => id.startsWith(`${resource.idPrefix}_`))) return false;
  if (resources && !resources.includes(snakeCase(resource.name))) return false;
  return !types || typesOf(resource).some((type) => types.includes(type));
}

/** How much earlier than the time in its id a row can have been created, if the clock of a process was wrong. */
const idToleranceMs = 24 * 60 * 60 * 1000;

/** A time before all events that match, in milliseconds since 1970; undefined if there is none. */
export function earliestTime({ resourceIds = [], gte, gt }: EventFilter): number | undefined {
  const since = gte ?? gt;
  const created = resourceIds.filter(isId).map((id) => timeOfId(id) - idToleranceMs);
  const times = [
    ...(since === undefined ? [] : [Date.parse(since)]),
    ...(created.length === 0 ? [] : [Math.min(...created)]),
  ];
  return times.length === 0 ? undefined : Math.max(...times);
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

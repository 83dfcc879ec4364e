// The operations of the event log as data.

import type { JsonSchema } from "../model/json-schema.ts";
import { commonErrors } from "../model/operation-errors.ts";
import {
  cursorParameters,
  limitParameter,
  maxFilterValues,
  type Parameter,
  pathParameter,
  queryParameter,
} from "../model/operation-parameters.ts";
import type { ModuleOperation } from "../model/operations.ts";

/** The scope of the event log. A caller sees only events of resources whose scope it has as well. */
export const eventsScope = "events:read";

const text = { type: "string" };
const time = { type: "string", format: "date-time" };

const event: JsonSchema = {
  title: "Event",
  type: "object",
  properties: {
    id: text,
    type: text,
    resource: text,
    resourceId: text,
    data: { type: "object" },
    createdAt: time,
  },
  required: ["id", "type", "resource", "resourceId", "data", "createdAt"],
};

/** A filter, of which several values mean any of them. */
function filter(name: string, description: string): Parameter {
  return Object.freeze({ ...queryParameter(name, text, description), maxCount: maxFilterValues });
}

type ScopedOperation = ModuleOperation & { readonly scope: string };

export const listEvents = Object.freeze<ScopedOperation>({
  id: "listEvents",
  kind: "module",
  method: "GET",
  path: "/events",
  summary: "List events",
  description: "Lists what happened to the rows that the caller sees, the newest first.",
  prefixes: ["/v1"],
  scope: eventsScope,
  parameters: [
    filter("type", "A type of event: post.created."),
    filter("resource", "The resource of the row: post, api_key."),
    filter("resourceId", "The id of the row."),
    queryParameter("createdAt[gte]", time, "Recorded at this time or later."),
    queryParameter("createdAt[gt]", time, "Recorded after this time."),
    queryParameter("createdAt[lte]", time, "Recorded at this time or earlier."),
    queryParameter("createdAt[lt]", time, "Recorded before this time."),
    queryParameter("after", text, "The id of an event. Only later events are returned."),
    queryParameter(
      "sort",
      { type: "string", enum: ["createdAt", "-createdAt"], default: "-createdAt" },
      "createdAt for the oldest event first.",
    ),
    limitParameter("limit"),
    ...cursorParameters,
  ],
  input: undefined,
  output: {
    title: "EventList",
    type: "object",
    properties: {
      data: { type: "array", items: event },
      pagination: {
        type: "object",
        properties: {
          nextCursor: { type: ["string", "null"] },
          hasMore: { type: "boolean" },
          prevCursor: text,
        },
        required: ["nextCursor", "hasMore"],
      },
    },
    required: ["data", "pagination"],
  },
  errors: [...commonErrors, "invalid_cursor"],
});

export const getEvent = Object.freeze<ScopedOperation>({
  id: "getEvent",
  kind: "module",
  method: "GET",
  path: "/events/{id}",
  summary: "Get an event",
  description: "Returns an event about a row that the caller sees.",
  prefixes: ["/v1"],
  scope: eventsScope,
  parameters: [pathParameter("id")],
  input: undefined,
  output: event,
  errors: [...commonErrors, "not_found"],
});

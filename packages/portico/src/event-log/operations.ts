// The operations of the event log as data.

import type { JsonSchema } from "../model/json-schema.ts";
import {
  cursorParameters,
  limitParameter,
  maxFilterValues,
  type Parameter,
  pathParameter,
  queryParameter,
} from "../model/operation-parameters.ts";
import { commonErrors, type ModuleOperation } from "../model/operations.ts";

/** The scope of the event log. A caller sees only events of resources whose scope it has as well. */
export const eventsScope = "events:read";

const text = { type: "string" };
const time = { type: "string", format: "date-time" };

const event: JsonSchema = {
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
    queryParameter("after", text, "The id of an event: only later ones."),
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
  prefixes: ["/v1"],
  scope: eventsScope,
  parameters: [pathParameter("id")],
  input: undefined,
  output: event,
  errors: [...commonErrors, "not_found"],
});

// Turns the query of `GET /v1/events` into a request for events.

import { InvalidInput } from "../engine/validation/invalid-input.ts";
import { repeatedParameter, unknownParameter } from "../engine/validation/messages.ts";
import type { InputError } from "../errors.ts";
import { parseTimestamp } from "../lib/timestamp.ts";
import type { ResourceModel } from "../model/model.ts";
import { parseLimit } from "../query/page.ts";
import type { Query } from "../query/query-string.ts";
import { type EventListRequest, filterChoices } from "./event-filter.ts";
import { listEvents } from "./operations.ts";

const parameters = new Map(listEvents.parameters.map((parameter) => [parameter.name, parameter]));
const ranges = ["gte", "gt", "lte", "lt"] as const;

/** @param resources those whose events there are @throws InvalidInput with every error in the query */
export function parseEventList(query: Query, resources: readonly ResourceModel[]): EventListRequest {
  const errors: InputError[] = [];
  for (const [name, values] of query) {
    const parameter = parameters.get(name);
    if (!parameter) errors.push(unknownParameter(name));
    else if (values.length > parameter.maxCount)
      errors.push(
        parameter.maxCount === 1
          ? repeatedParameter(name)
          : { field: name, issue: "max", text: `must have at most ${parameter.maxCount} values` },
      );
  }
  const one = (name: string): string | undefined => query.get(name)?.[0];
  const choice = (name: string, choices: readonly string[]): string | undefined => {
    const unknown = query.get(name)?.find((value) => !choices.includes(value));
    if (unknown !== undefined)
      errors.push({ field: name, issue: "choice", text: `must be one of ${choices.join(", ")}` });
    return one(name);
  };
  const time = (operator: (typeof ranges)[number]): string | undefined => {
    const field = `createdAt[${operator}]`;
    const text = one(field);
    const parsed = text === undefined ? undefined : parseTimestamp(text);
    if (text !== undefined && parsed === undefined)
      errors.push({ field, issue: "format", text: "must be an ISO 8601 date and time" });
    return parsed;
  };
  const [gte, gt, lte, lt] = ranges.map(time);
  const choices = filterChoices(resources);
  choice("type", choices.types);
  choice("resource", choices.resources);
  const isOldestFirst = choice("sort", ["createdAt", "-createdAt"]) === "createdAt";
  const isBackward = choice("direction", ["forward", "backward"]) === "backward";
  if (errors.length > 0) throw new InvalidInput(errors);
  return {
    filter: {
      types: query.get("type"),
      resources: query.get("resource"),
      resourceIds: query.get("resourceId"),
      ...{ gte, gt, lte, lt },
      after: one("after"),
    },
    isOldestFirst,
    limit: parseLimit(one("limit")),
    cursor: one("cursor"),
    isBackward,
  };
}

// Patterns of types of events, as webhook endpoints and handlers select them: `post.created`, all of a resource (`post.*`), or all (`*`).

import type { Model, ResourceModel } from "../model/model.ts";
import { eventType } from "./event-type.ts";

const actions = ["created", "updated", "deleted"] as const;

/** Every type of event of some resources. */
export function eventTypesOf(resources: readonly Pick<ResourceModel, "name">[]): readonly string[] {
  return resources.flatMap(({ name }) => actions.map((action) => eventType(name, action)));
}

/** Whether one of the patterns selects a type. */
export function selectsType(patterns: readonly string[], type: string): boolean {
  const ofResource = `${type.slice(0, type.indexOf("."))}.*`;
  return patterns.some((pattern) => pattern === "*" || pattern === type || pattern === ofResource);
}

/** The patterns that select no type that callers see. */
export function unknownPatterns(
  patterns: readonly string[],
  model: Pick<Model, "resources">,
): readonly string[] {
  const types = eventTypesOf(
    model.resources.filter(({ recordsEvents, isExposed }) => recordsEvents && isExposed),
  );
  return patterns.filter((pattern) => !types.some((type) => selectsType([pattern], type)));
}

// The types of events that an endpoint selects: `post.created`, all of a resource (`post.*`), or all (`*`).

import { eventType } from "../events/event-type.ts";
import type { Model } from "../model/model.ts";

const actions = ["created", "updated", "deleted"] as const;

/** Every type of event that an endpoint can select. */
export function eventTypesOf({ resources }: Pick<Model, "resources">): readonly string[] {
  return resources
    .filter(({ recordsEvents, isExposed }) => recordsEvents && isExposed)
    .flatMap(({ name }) => actions.map((action) => eventType(name, action)));
}

/** Whether one of the patterns selects a type. */
export function selectsType(patterns: readonly string[], type: string): boolean {
  const ofResource = `${type.slice(0, type.indexOf("."))}.*`;
  return patterns.some((pattern) => pattern === "*" || pattern === type || pattern === ofResource);
}

/** The patterns that select no type of the model. */
export function unknownPatterns(
  patterns: readonly string[],
  model: Pick<Model, "resources">,
): readonly string[] {
  const types = eventTypesOf(model);
  return patterns.filter((pattern) => !types.some((type) => selectsType([pattern], type)));
}

// The handlers that an app declares, each with a name of its own.

import type { Handler, LooseHandlers } from "../declare/handlers.ts";
import { OperatorError } from "../errors.ts";
import { eventTypesOf, selectsType } from "../events/event-patterns.ts";
import type { Model } from "../model/model.ts";

export interface DeclaredHandler {
  /** `issue.updated`, or `issue.updated/notify` for one of several. Its jobs are stored under this name. */
  readonly name: string;
  readonly run: Handler;
}

const namePattern = /^[a-z][a-zA-Z0-9_-]{0,49}$/;

/** The events that a handler selects: `issue.updated/notify` -> `issue.updated` */
export function patternOf(name: string): string {
  return name.split("/", 1)[0]!;
}

/** @throws OperatorError for a handler that is not a function, and for a name that is not allowed */
export function declaredHandlers(on: LooseHandlers = {}): readonly DeclaredHandler[] {
  if (!isObject(on)) refuse("must be an object of functions by type of event");
  return Object.entries(on).flatMap(([pattern, declared]): DeclaredHandler[] => {
    if (isHandler(declared)) return [{ name: pattern, run: declared }];
    if (!isObject(declared)) refuse(`${JSON.stringify(pattern)} must be a function, or functions by name`);
    return Object.entries(declared).map(([name, run]) => {
      if (!namePattern.test(name))
        refuse(
          `${JSON.stringify(pattern)}: the name ${JSON.stringify(name)} is invalid; use letters, digits, _ and -, at most 50, a lowercase letter first`,
        );
      if (!isHandler(run)) refuse(`${JSON.stringify(pattern)}: ${name} must be a function`);
      return { name: `${pattern}/${name}`, run };
    });
  });
}

/** @throws OperatorError for a handler of events that no resource records */
export function requireKnownEvents(handlers: readonly DeclaredHandler[], { resources }: Model): void {
  const types = eventTypesOf(resources.filter(({ recordsEvents }) => recordsEvents));
  for (const { name } of handlers) {
    const pattern = patternOf(name);
    if (types.some((type) => selectsType([pattern], type))) continue;
    const declared = resources.filter(({ recordsEvents, isExposed }) => recordsEvents && isExposed);
    refuse(
      `${JSON.stringify(pattern)} is not an event of a resource; write created, updated, deleted or * after one of ${eventTypesOf(
        declared,
      )
        .filter((type) => type.endsWith(".created"))
        .map((type) => type.slice(0, type.indexOf(".")))
        .join(", ")}`,
    );
  }
}

function isHandler(value: unknown): value is Handler {
  return typeof value === "function";
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refuse(message: string): never {
  throw new OperatorError(`app: on: ${message}`);
}

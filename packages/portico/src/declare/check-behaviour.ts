// What can be wrong with what a declaration does beyond holding fields: states, marks, actions, and collections
// below references.

import { OperatorError } from "../errors.ts";
import type { FieldShape } from "./field.ts";
import type { Attribute, Model, ResourceModel } from "./model.ts";
import type { LooseAction, LooseDeclaration } from "./resource.ts";

type Refuse = (remedy: string) => never;

/** A noun, or several with hyphens between them: `rotations`. */
const segmentPattern = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
/** A hundred years; a state that begins earlier has no moment to be worked out from. */
const mostSecondsBefore = 100 * 366 * 86_400;

/** Checks the shapes of what is declared; the names in it are checked with the model. */
export function checkBehaviour(
  { check, removal, actions, alsoUnder }: LooseDeclaration,
  refuse: Refuse,
): void {
  if (check !== undefined && typeof check !== "function") refuse("check is a function of the body");
  if (removal !== undefined && typeof removal?.marks !== "string")
    refuse('write removal as { marks: "removedAt" }');
  if (alsoUnder !== undefined && !Array.isArray(alsoUnder))
    refuse('write alsoUnder as a list of references, ["owner"]');
  for (const [segment, action] of Object.entries(actions ?? {})) checkAction(segment, action, refuse);
}

function checkAction(segment: string, action: LooseAction, refuse: Refuse): void {
  if (!segmentPattern.test(segment))
    refuse(`write the action ${segment} as a noun in lowercase with hyphens, for example rotations`);
  if (typeof action?.input !== "object" || typeof action.run !== "function")
    refuse(`the action ${segment} needs input, which may be {}, and run`);
}

/** A field of an action's input is said by the caller and kept nowhere. */
export function checkInputField({ kind, options }: FieldShape, refuse: Refuse): void {
  const kept = ["readOnly", "internal", "fixed", "unique", "whenRemoved"].find((option) => option in options);
  if (kind === "state" || kept !== undefined)
    refuse(`an action is told what its caller sends; remove ${kind === "state" ? "the state" : kept}`);
}

export function checkState({ rules, choices }: Extract<FieldShape, { kind: "state" }>, refuse: Refuse): void {
  if (!Array.isArray(rules) || rules.length === 0)
    refuse('give at least one rule: { state: "expired", from: "expiresAt" }');
  if (choices.some((choice) => typeof choice !== "string" || choice === ""))
    refuse("write every state as a word");
  if (new Set(choices).size < choices.length) refuse("a state stands there twice; remove one");
  for (const { state, secondsBefore = 0 } of rules) {
    if (!Number.isFinite(secondsBefore) || secondsBefore < 0 || secondsBefore > mostSecondsBefore)
      refuse(`secondsBefore of ${state} is a number of seconds from 0 to ${mostSecondsBefore}`);
  }
}

export function checkJson({ options }: Extract<FieldShape, { kind: "json" }>, refuse: Refuse): void {
  const { schema, optional } = options;
  if (schema === undefined) return;
  if (typeof schema !== "object" || schema === null)
    refuse('schema is a JSON Schema, for example { type: "object" }');
  if (optional && schema.type === undefined) refuse("is optional, so its schema needs a type");
}

/** Checks what needs the other resources and the derived names. */
export function checkBehaviourOf(model: Model): void {
  const paths = new Map<string, string>();
  for (const resource of model.resources) {
    checkMark(resource);
    for (const attribute of resource.references) checkWhenRemoved(resource, attribute);
    for (const [above, segment] of pathsBelow(resource)) {
      const path = `${resource.version}/${above}/{id}/${segment}`;
      const other = paths.get(path);
      if (other)
        throw new OperatorError(
          `resource ${resource.name}: the path /${path} is taken by ${other}; rename one`,
        );
      paths.set(path, resource.name);
    }
  }
}

/** What stands below single rows because of this resource: itself, and its actions. */
function pathsBelow({ isServed, segment, parent, alsoUnder, actions }: ResourceModel): [string, string][] {
  if (!isServed) return [];
  const above = [...(parent ? [parent] : []), ...alsoUnder].map((by) =>
    by === "tenant" ? "tenants" : by.reference!.target.segment,
  );
  return [
    ...above.map((each): [string, string] => [each, segment]),
    ...[...actions.keys()].map((action): [string, string] => [segment, action]),
  ];
}

function checkMark({ name, removalMark: mark }: ResourceModel): void {
  if (!mark) return;
  const isMark = mark.field.kind === "timestamp" && mark.isNullable && mark.isReadOnly;
  if (isMark) return;
  throw new OperatorError(
    `resource ${name}, field ${mark.name}: removal marks it, so write timestamp({ optional: true, readOnly: true })`,
  );
}

function checkWhenRemoved({ name, removalMark }: ResourceModel, attribute: Attribute): void {
  const { field, isNullable } = attribute;
  const whenRemoved = field.kind === "belongsTo" ? field.options.whenRemoved : undefined;
  if (whenRemoved === undefined) return;
  const refuse = (remedy: string): never => {
    throw new OperatorError(`resource ${name}, field ${attribute.reference!.name}: ${remedy}`);
  };
  if (whenRemoved !== "remove") refuse('whenRemoved is "remove", or left out');
  if (removalMark && !isNullable)
    refuse("its rows are kept when what they refer to is removed, so it must be optional");
}

// Validates what a declaration has besides fields: computed statuses, deletion, actions and nested collections.

import type { LooseAction } from "../declare/action.ts";
import type { FieldShape } from "../declare/field.ts";
import { renameHint } from "../declare/renamed-options.ts";
import type { LooseDeclaration } from "../declare/resource.ts";
import { OperatorError } from "../errors.ts";
import type { Attribute, Model, ResourceModel } from "./model.ts";
import { validateSoftDelete } from "./soft-deletion.ts";

/** Throws with the name of the resource or field. */
export type Refuse = (remedy: string) => never;

/** One or more words with hyphens between them: `rotations` */
const segmentPattern = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
/** A hundred years. The start of a status before that could not be computed. */
const maxSecondsBefore = 100 * 366 * 86_400;

/** Checks the types of options. The names in them are checked with the model. */
export function validateBehaviour(declaration: LooseDeclaration, refuse: Refuse): void {
  const { validate, markOnDelete, actions, nestedUnder } = declaration;
  validateSoftDelete(declaration, refuse);
  if (validate !== undefined && typeof validate !== "function") refuse("validate is a function of the body");
  if (markOnDelete !== undefined && typeof markOnDelete !== "string")
    refuse('write markOnDelete as the name of a timestamp, "deletedAt"');
  if (nestedUnder !== undefined && !Array.isArray(nestedUnder))
    refuse('write nestedUnder as a list of references, ["owner"]');
  for (const [segment, action] of Object.entries(actions ?? {})) validateAction(segment, action, refuse);
}

function validateAction(segment: string, action: LooseAction, refuse: Refuse): void {
  if (!segmentPattern.test(segment))
    refuse(`write the action ${segment} as a noun in lowercase with hyphens, for example rotations`);
  if (typeof action?.input !== "object" || typeof action.run !== "function")
    refuse(`the action ${segment} needs input, which may be {}, and run`);
  if (action.run.length > 1)
    refuse(
      `run of the action ${segment} has one argument now; write run: ({ current, input, rows, caller, now }) => ...`,
    );
  const { on = "row", answer } = action;
  if (on !== "row" && on !== "collection")
    refuse(`the action ${segment} is on: "row", which is the default, or on: "collection"`);
  if (answer !== undefined && on === "row")
    refuse(`the action ${segment} returns its row; remove answer, or write on: "collection"`);
  if (answer !== undefined && (typeof answer !== "object" || answer === null))
    refuse(`the answer of the action ${segment} is a list of fields, { count: integer() }`);
}

/** Checks a field in the input of an action, which comes from the caller and is not stored. */
export function validateInputField(field: FieldShape, refuse: Refuse): void {
  const forbidden = notInRequests(field);
  if (forbidden !== undefined) refuse(`the input of an action comes from its caller; remove ${forbidden}`);
}

/** Checks a field in the answer of an action, whose code returns it. */
export function validateAnswerField(field: FieldShape, refuse: Refuse): void {
  const forbidden = "default" in field.options ? "default" : notInRequests(field);
  if (forbidden !== undefined) refuse(`run of the action returns its value; remove ${forbidden}`);
}

/** What a field cannot be that belongs to no row. */
function notInRequests({ kind, options }: FieldShape): string | undefined {
  const names = ["readOnly", "internal", "immutable", "unique", "onDelete", "was", "fill"];
  return computedKinds.get(kind) ?? names.find((option) => option in options);
}

/** What no caller can send, for messages. */
const computedKinds: ReadonlyMap<string, string> = new Map([
  ["computedStatus", "the computed status"],
  ["count", "the count"],
]);

export function validateComputedStatus(
  { rules, choices }: Extract<FieldShape, { kind: "computedStatus" }>,
  refuse: Refuse,
): void {
  if (!Array.isArray(rules) || rules.length === 0)
    refuse('add at least one rule: { status: "expired", from: "expiresAt" }');
  const oldRule = rules.find((each) => "state" in each);
  if (oldRule) refuse(renameHint("rule", "state")!);
  if (choices.some((choice) => typeof choice !== "string" || choice === ""))
    refuse("write every status as a word");
  if (new Set(choices).size < choices.length) refuse("a status is listed twice; remove one");
  for (const { status, secondsBefore = 0 } of rules) {
    if (!Number.isFinite(secondsBefore) || secondsBefore < 0 || secondsBefore > maxSecondsBefore)
      refuse(`secondsBefore of ${status} is a number of seconds from 0 to ${maxSecondsBefore}`);
  }
}

export function validateJson({ options }: Extract<FieldShape, { kind: "json" }>, refuse: Refuse): void {
  const { schema, optional } = options;
  if (schema === undefined) return;
  if (typeof schema !== "object" || schema === null)
    refuse('schema is a JSON Schema, for example { type: "object" }');
  if (optional && schema.type === undefined) refuse("is optional, so its schema needs a type");
}

/** Checks what depends on other resources and on derived names. */
export function validateModelBehaviour(model: Model): void {
  const paths = new Map<string, string>();
  for (const resource of model.resources) {
    validateMarkOnDelete(resource);
    validateSetByCode(resource);
    for (const attribute of resource.references) validateOnDelete(resource, attribute);
    for (const [container, segment] of nestedPaths(resource)) {
      const path = `${resource.version}/${container}/{id}/${segment}`;
      const other = paths.get(path);
      if (other)
        throw new OperatorError(
          `resource ${resource.name}: the path /${path} is taken by ${other}; rename one`,
        );
      paths.set(path, resource.name);
    }
  }
}

/** The paths under rows that this resource adds, as container and last segment: nested collections and actions. */
function nestedPaths({
  isExposed,
  segment,
  parent,
  nestedUnder,
  actions,
  collectionActions,
}: ResourceModel): [string, string][] {
  if (!isExposed) return [];
  const containers = [...(parent ? [parent] : []), ...nestedUnder].map((by) =>
    by === "tenant" ? "tenants" : by.reference!.target.segment,
  );
  return [
    ...containers.map((each): [string, string] => [each, segment]),
    ...[...actions.keys()].map((action): [string, string] => [segment, action]),
    ...[...collectionActions.keys()].map((action): [string, string] =>
      parent ? [parent.reference!.target.segment, `${segment}/${action}`] : [segment, action],
    ),
  ];
}

/** A caller could not create any row if neither the caller nor a hook sets a required field. */
function validateSetByCode({
  name,
  setByCode: [attribute],
  hooks,
  isExposed,
  operations,
}: ResourceModel): void {
  if (!attribute || !isExposed || !operations.has("create") || hooks.before?.create) return;
  throw new OperatorError(
    `resource ${name}, field ${attribute.name}: callers cannot set it, and no hook does, so nobody could create a row; set it in hooks.before.create, give it a default, or make it optional`,
  );
}

function validateMarkOnDelete({ name, markOnDelete: attribute }: ResourceModel): void {
  if (!attribute) return;
  const isValid = attribute.field.kind === "timestamp" && attribute.isNullable && attribute.isReadOnly;
  if (isValid) return;
  throw new OperatorError(
    `resource ${name}, field ${attribute.name}: markOnDelete sets it, so write timestamp({ optional: true, readOnly: true })`,
  );
}

function validateOnDelete({ name, markOnDelete }: ResourceModel, attribute: Attribute): void {
  const { field, isNullable } = attribute;
  const onDelete = field.kind === "belongsTo" ? field.options.onDelete : undefined;
  if (onDelete === undefined) return;
  const refuse = (remedy: string): never => {
    throw new OperatorError(`resource ${name}, field ${attribute.reference!.name}: ${remedy}`);
  };
  if (onDelete !== "cascade" && onDelete !== "setNull")
    refuse('onDelete is "cascade" or "setNull", or left out');
  if (onDelete === "setNull" && !isNullable) refuse('onDelete: "setNull" needs optional: true');
  if (markOnDelete && !isNullable)
    refuse("its rows are kept when the row that they refer to is deleted, so it must be optional");
}

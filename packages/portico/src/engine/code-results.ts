// What hooks and actions return. It must match the declaration; if it does not, the error is one of their code.

import { isId } from "../lib/id.ts";
import { codeFailure } from "../model/explained-failures.ts";
import type { ActionModel, CollectionActionModel, ResourceModel } from "../model/model.ts";
import type { RowValues } from "../query/write.ts";
import { hookValues, insertValues } from "./validation/row-values.ts";
import type { WriteContext } from "./write-context.ts";

/** The values that a hook returned, as the row stores them. */
export function valuesOfHook(
  { model, validator }: WriteContext,
  resource: ResourceModel,
  result: RowValues | undefined,
): RowValues {
  if (result === undefined) return {};
  try {
    return hookValues(resource, validator.validate(resource, "hookResult", result));
  } catch (error) {
    throw codeFailure(
      model,
      `a hook of ${resource.name} returned invalid values: ${(error as Error).message}`,
    );
  }
}

/** Requires that a new row has the values that no caller can set: a hook, or the code that creates it, must. */
export function requireSetByCode(
  { model }: WriteContext,
  { name, setByCode }: ResourceModel,
  row: RowValues,
): void {
  const missing = setByCode.find((attribute) => row[attribute.name] === undefined);
  if (!missing) return;
  throw codeFailure(
    model,
    `resource ${name}, field ${missing.name}: a new row has no value, because hooks.before.create sets none`,
  );
}

/** The members of the answer of an action on a collection that it declares, as JSON. */
export function answerOfAction(
  { model, validator, caller, now }: WriteContext,
  { name }: ResourceModel,
  { name: segment, answer: shape }: CollectionActionModel,
  answer: unknown,
): string {
  const refuse = (message: string): Error =>
    codeFailure(model, `the action ${segment} of ${name} returned a wrong answer: ${message}`);
  if (typeof answer !== "object" || answer === null) throw refuse("It must be an object.");
  const members = Object.entries(answer).filter(
    ([member, value]) => value !== undefined && shape.attribute.has(member),
  );
  try {
    const valid = validator.validateInput(shape, Object.fromEntries(members));
    return JSON.stringify(insertValues(shape.attributes, valid, caller, now));
  } catch (error) {
    // Also a Problem, which would blame the caller.
    throw refuse((error as Error).message);
  }
}

/** The row that an action returned. */
export function rowOfAction(
  { model }: WriteContext,
  { name, idPrefix }: ResourceModel,
  action: ActionModel,
  result: unknown,
): RowValues & { readonly id: string } {
  const id: unknown = typeof result === "object" && result !== null && "id" in result ? result.id : undefined;
  // The compiler does not see that the value is a row with this id.
  if (typeof id === "string" && isId(id)) return result as RowValues & { readonly id: string };
  throw codeFailure(
    model,
    `the action ${action.name} of ${name} returned no row; return one, with its id (${idPrefix}_...)`,
  );
}

// Runs the code of actions, in a transaction in which what they are called on is locked.

import type { ParentContext } from "../declare/hooks.ts";
import type { Resource } from "../declare/resource.ts";
import type { Rows } from "../declare/rows.ts";
import type { ActionModel, CollectionActionModel, ResourceModel } from "../model/model.ts";
import type { RowValues } from "../query/write.ts";
import { answerOfAction, rowOfAction } from "./code-results.ts";
import { insertValues } from "./validation/row-values.ts";
import type { LockedRow, WriteContext } from "./write-context.ts";
import { WriteResult } from "./write-result.ts";

interface RowActionInput {
  readonly current: LockedRow;
  /** A valid body. */
  readonly input: RowValues;
}

export async function runRowAction(
  context: WriteContext,
  rows: Rows,
  resource: ResourceModel,
  action: ActionModel,
  { current, input }: RowActionInput,
): Promise<WriteResult> {
  const returnedOnce = {};
  const completeInput = insertValues(action.attributes, input, context.caller, context.now);
  const result = await action.run({
    ...context.hookContext(rows, returnedOnce),
    current,
    input: completeInput,
  });
  const returned = rowOfAction(context, resource, action, result);
  // A row that the action created has members that are returned once among its own.
  const shown = Object.entries(returned).filter(([name]) => !resource.attribute.get(name)?.isInternal);
  const { row, others } = Object.groupBy(shown, ([name]) =>
    resource.attribute.has(name) ? "row" : "others",
  );
  Object.assign(returnedOnce, Object.fromEntries(others ?? []));
  return WriteResult.ofRow(returned.id, Object.fromEntries(row ?? []), returnedOnce);
}

type CollectionActionInput = Partial<ParentContext<Resource>> & {
  /** A valid body. */
  readonly input: RowValues;
};

/** @returns the answer as JSON text */
export async function runCollectionAction(
  context: WriteContext,
  rows: Rows,
  resource: ResourceModel,
  action: CollectionActionModel,
  { input, ...ofParent }: CollectionActionInput,
): Promise<string> {
  const completeInput = insertValues(action.attributes, input, context.caller, context.now);
  // What is returned is declared, so that nothing else can be added.
  const { returnOnce: _, ...hookContext } = context.hookContext(rows, {});
  const answer = await action.run({ ...hookContext, ...ofParent, input: completeInput });
  return answerOfAction(context, resource, action, answer);
}

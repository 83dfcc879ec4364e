// An operation and its variables become what can be run for any caller: its fields as plans, what it costs, and the
// scopes that it needs.

import { GraphQLError, getVariableValues, type OperationDefinitionNode } from "graphql";
import { type CompiledField, compileFields } from "./compile.ts";
import { type Failure, failureOfDocument } from "./failure.ts";
import { costOf } from "./limits.ts";
import type { ParsedDocument } from "./parsed-document.ts";
import { Uncompiled } from "./row-selection.ts";
import type { Api } from "./schema.ts";
import { type NeededScope, scopesOf } from "./scopes.ts";
import { type Selected, selectedFields } from "./selected.ts";

export interface Compiled {
  readonly operation: OperationDefinitionNode;
  /** Undefined where the reference executor runs it. */
  readonly fields: readonly CompiledField[] | undefined;
  readonly cost: number;
  readonly scopes: readonly NeededScope[];
}

/** Variables whose text is longer are not worth keeping: they hardly come again. */
const longestVariables = 1_024;

/** The operation for these variables, or what is wrong with them. */
export function prepare(
  api: Api,
  parsed: ParsedDocument,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): Compiled | readonly Failure[] {
  const isFixed = !operation.variableDefinitions?.length;
  const given = isFixed ? "" : JSON.stringify(variables);
  const key = `${operation.name?.value ?? ""}${given}`;
  const known = parsed.compiled.get(key);
  if (known) return known;
  const { variableValues, errors } = getVariableValues(
    api.schema,
    operation.variableDefinitions ?? [],
    variables,
    { maxErrors: 20 },
  );
  if (errors) return errors.map((error) => failureOfDocument(error, "validation_error"));
  try {
    const input = { api, operation, fragments: parsed.fragments, variables: variableValues };
    const made = compiled(api, operation, selectedFields(input));
    const isKept = operation.operation === "query" && given.length <= longestVariables;
    if (isFixed || isKept) parsed.compiled.set(key, made);
    return made;
  } catch (error) {
    // A variable that is null where an argument may not be: of the executor's errors the only one that is found here.
    if (error instanceof GraphQLError) return [failureOfDocument(error, "validation_error")];
    throw error;
  }
}

function compiled(api: Api, operation: OperationDefinitionNode, fields: readonly Selected[]): Compiled {
  const common = { operation, cost: costOf(fields), scopes: scopesOf(api, fields) };
  const rootName = api.schema.getRootType(operation.operation)!.name;
  try {
    return { ...common, fields: compileFields(api, rootName, fields) };
  } catch (error) {
    if (error instanceof Uncompiled) return { ...common, fields: undefined };
    throw error;
  }
}

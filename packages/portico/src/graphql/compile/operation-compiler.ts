// An operation and its variables become what can be run for any caller: its fields as plans, what it costs, and the
// scopes that it needs.

import { GraphQLError, getVariableValues, type OperationDefinitionNode } from "graphql";
import { BoundedMap } from "../../lib/bounded-map.ts";
import { type CollectedField, selectedFields } from "../document/collect-fields.ts";
import { costOf, namesOf, sizeOf } from "../document/operation-limits.ts";
import type { ParsedDocument } from "../document/parsed-document.ts";
import { type NeededScope, scopesOf } from "../document/scopes.ts";
import { type Failure, failureOfDocument } from "../execute/failure.ts";
import { isIntrospection } from "../execute/introspection.ts";
import type { Api } from "../schema/schema.ts";
import { type CompiledField, compileFields } from "./compile.ts";

export interface CompiledOperation {
  readonly operation: OperationDefinitionNode;
  readonly fields: readonly CompiledField[];
  /** Whether some of its fields ask about the schema. */
  readonly hasIntrospection: boolean;
  readonly cost: number;
  readonly size: number;
  readonly names: number;
  readonly scopes: readonly NeededScope[];
  /** How many fields it has, in all. */
  readonly weight: number;
}

/** Fields of all operations that are kept; one is some hundred bytes. */
const maxCachedFields = 20_000;
/** Variables whose text is longer are not worth keeping: they hardly come again. */
const maxCachedVariablesLength = 1_024;
/** Of the faults of variables; the message of each repeats a value. */
const maxErrors = 5;

export class OperationCompiler {
  readonly #api: Api;
  readonly #cache = new BoundedMap<string, CompiledOperation>(maxCachedFields, (_key, { weight }) => weight);

  constructor(api: Api) {
    this.#api = api;
  }

  /** The operation for these variables, or what is wrong with them. */
  compile(
    parsed: ParsedDocument,
    operation: OperationDefinitionNode,
    variables: Readonly<Record<string, unknown>>,
  ): CompiledOperation | readonly Failure[] {
    const isFixed = !operation.variableDefinitions?.length;
    const variablesText = isFixed ? "" : JSON.stringify(variables);
    const key = `${parsed.number} ${operation.name?.value ?? ""}${variablesText}`;
    const cached = this.#cache.get(key);
    if (cached) return cached;
    const compiled = this.#compile(parsed, operation, variables);
    const isCacheable =
      isFixed || (operation.operation === "query" && variablesText.length <= maxCachedVariablesLength);
    if ("cost" in compiled && parsed.number !== undefined && isCacheable) this.#cache.set(key, compiled);
    return compiled;
  }

  #compile(
    { fragments }: ParsedDocument,
    operation: OperationDefinitionNode,
    rawVariables: Readonly<Record<string, unknown>>,
  ): CompiledOperation | readonly Failure[] {
    const api = this.#api;
    const definitions = operation.variableDefinitions ?? [];
    const { variableValues: variables, errors } = getVariableValues(api.schema, definitions, rawVariables, {
      maxErrors: maxErrors,
    });
    if (errors) return errors.map((error) => failureOfDocument(error, "validation_error"));
    try {
      return compileOperation(api, operation, selectedFields({ api, operation, fragments, variables }));
    } catch (error) {
      // A variable that is null where an argument may not be: of the executor's errors the only one that is found here.
      if (error instanceof GraphQLError) return [failureOfDocument(error, "validation_error")];
      throw error;
    }
  }
}

function compileOperation(
  api: Api,
  operation: OperationDefinitionNode,
  fields: readonly CollectedField[],
): CompiledOperation {
  const rootName = api.schema.getRootType(operation.operation)!.name;
  return {
    operation,
    fields: compileFields(api, rootName, fields),
    hasIntrospection: fields.some(isIntrospection),
    cost: costOf(fields),
    size: sizeOf(fields),
    names: namesOf(fields),
    scopes: scopesOf(api, fields),
    weight: 1 + countOf(fields),
  };
}

function countOf(fields: readonly CollectedField[]): number {
  let count = fields.length;
  for (const { subselections } of fields) for (const each of subselections) count += countOf(each.fields);
  return count;
}

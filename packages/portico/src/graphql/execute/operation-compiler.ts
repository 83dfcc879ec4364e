// Compiles an operation and its variables into something that can run for any caller: its fields as functions, its cost,
// and the scopes that it requires.

import { GraphQLError, GraphQLNonNull, getVariableValues, type OperationDefinitionNode } from "graphql";
import { BoundedMap } from "../../lib/bounded-map.ts";
import { type CollectedField, collectRootFields } from "../document/collect-fields.ts";
import { costOf, namesOf, sizeOf } from "../document/operation-limits.ts";
import type { ParsedDocument } from "../document/parsed-document.ts";
import { accessesOf, type RequiredAccess } from "../document/scopes.ts";
import type { FieldRunner } from "../fields/field-mapping.ts";
import { isIntrospection, isMetaField } from "../fields/meta-fields.ts";
import type { Api } from "../schema/schema.ts";
import { type Failure, failureOfDocument } from "./failure.ts";

export interface CompiledOperation {
  readonly operation: OperationDefinitionNode;
  readonly fields: readonly CompiledField[];
  /** Whether some of its fields query the schema. */
  readonly hasIntrospection: boolean;
  readonly cost: number;
  /** Number of mutations; 0 for another operation. */
  readonly mutations: number;
  readonly size: number;
  readonly names: number;
  readonly accesses: readonly RequiredAccess[];
  /** Number of fields, including nested ones. */
  readonly fieldCount: number;
}

/** A root field that can run for any caller. */
export interface CompiledField {
  readonly field: CollectedField;
  readonly isNonNull: boolean;
  /** Whether it writes. */
  readonly isMutation: boolean;
  readonly run: FieldRunner;
}

/** Fields of all cached operations. A field needs some hundred bytes. */
const maxCachedFields = 20_000;
/** Operations with longer variables, as JSON text, are not cached: they are unlikely to be repeated. */
const maxCachedVariablesLength = 1_024;
/** Reported errors of variables. Each message repeats a value. */
const maxErrors = 5;

export class OperationCompiler {
  readonly #api: Api;
  readonly #cache = new BoundedMap<string, CompiledOperation>(
    maxCachedFields,
    (_key, { fieldCount }) => 1 + fieldCount,
  );

  constructor(api: Api) {
    this.#api = api;
  }

  /** The operation for these variables, or the errors of the variables. */
  compile(
    parsed: ParsedDocument,
    operation: OperationDefinitionNode,
    variables: Readonly<Record<string, unknown>>,
  ): CompiledOperation | readonly Failure[] {
    const hasVariables = Boolean(operation.variableDefinitions?.length);
    const variablesText = hasVariables ? JSON.stringify(variables) : "";
    const key = `${parsed.number} ${operation.name?.value ?? ""}${variablesText}`;
    const cached = this.#cache.get(key);
    if (cached) return cached;
    const compiled = this.#compile(parsed, operation, variables);
    const isCacheable =
      !hasVariables || (operation.operation === "query" && variablesText.length <= maxCachedVariablesLength);
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
      maxErrors,
    });
    if (errors) return errors.map((error) => failureOfDocument(error, "validation_error"));
    try {
      return compileOperation(operation, collectRootFields({ api, operation, fragments, variables }));
    } catch (error) {
      // A variable without a value in a non-null argument: the only error of a valid document at this stage.
      if (error instanceof GraphQLError) return [failureOfDocument(error, "validation_error")];
      throw error;
    }
  }
}

function compileOperation(
  operation: OperationDefinitionNode,
  fields: readonly CollectedField[],
): CompiledOperation {
  const isMutation = operation.operation === "mutation";
  return {
    operation,
    fields: fields.map((field) => ({
      field,
      isMutation: isMutation && !isMetaField(field),
      isNonNull: field.definition.type instanceof GraphQLNonNull,
      // All fields of root types are `RootFieldMapping`s.
      run: field.mapping.compile!(field),
    })),
    hasIntrospection: fields.some(isIntrospection),
    cost: costOf(fields),
    mutations: isMutation ? fields.filter((field) => !isMetaField(field)).length : 0,
    size: sizeOf(fields),
    names: namesOf(fields),
    accesses: accessesOf(fields),
    fieldCount: countOf(fields),
  };
}

function countOf(fields: readonly CollectedField[]): number {
  let count = fields.length;
  for (const { selectionSets } of fields) for (const set of selectionSets) count += countOf(set.fields);
  return count;
}

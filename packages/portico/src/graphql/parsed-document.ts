// Documents, parsed and validated once. The cache holds so many of a size that what callers send cannot fill memory.

import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  parse,
  validate,
} from "graphql";
import { Problem } from "../errors.ts";
import { BoundedMap } from "../plan/bounded-map.ts";
import { type Failure, failureOf, failureOfDocument } from "./failure.ts";
import { type GraphqlLimits, requireBoundedDocument } from "./limits.ts";
import type { Compiled } from "./prepare.ts";

export interface ParsedDocument {
  readonly document: DocumentNode;
  readonly operations: readonly OperationDefinitionNode[];
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Operations of it that were compiled, by name and variables. */
  readonly compiled: BoundedMap<string, Compiled>;
}

const mostDocuments = 500;
/** Longer documents are parsed whenever they come. */
const longestKept = 8_192;
const mostCompiled = 50;
/** Of the faults that validation finds. */
const mostFaults = 20;

export class DocumentParser {
  readonly #schema: GraphQLSchema;
  readonly #limits: GraphqlLimits;
  readonly #kept = new BoundedMap<string, ParsedDocument>(mostDocuments);

  constructor(schema: GraphQLSchema, limits: GraphqlLimits) {
    this.#schema = schema;
    this.#limits = limits;
  }

  /** The document, or everything that is wrong with it. */
  parse(text: string): ParsedDocument | readonly Failure[] {
    const known = this.#kept.get(text);
    if (known) return known;
    const found = this.#parseAnew(text);
    if ("document" in found && text.length <= longestKept) this.#kept.set(text, found);
    return found;
  }

  #parseAnew(text: string): ParsedDocument | readonly Failure[] {
    try {
      const document = parse(text, {
        maxLexicalTokens: this.#limits.tokens,
        maxComments: this.#limits.tokens,
      });
      requireBoundedDocument(document, this.#limits);
      const faults = validate(this.#schema, document, undefined, { maxErrors: mostFaults });
      if (faults.length > 0) return faults.map((fault) => failureOfDocument(fault, "validation_error"));
      return parsed(document);
    } catch (error) {
      return [this.#failure(error)];
    }
  }

  #failure(error: unknown): Failure {
    if (error instanceof Problem) return failureOf(error);
    if (error instanceof GraphQLError) return failureOfDocument(error, "malformed_request");
    // Deeper than the stack of the parser, which is deeper than any limit.
    if (error instanceof RangeError) {
      const { depth } = this.#limits;
      const message = `The document is nested too deep to be read; the limit is a depth of ${depth}.`;
      return failureOf(new Problem("validation_error", message, [{ field: "depth", issue: "max" }]));
    }
    throw error;
  }
}

function parsed(document: DocumentNode): ParsedDocument {
  const operations: OperationDefinitionNode[] = [];
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === "OperationDefinition") operations.push(definition);
    if (definition.kind === "FragmentDefinition") fragments.set(definition.name.value, definition);
  }
  return { document, operations, fragments, compiled: new BoundedMap(mostCompiled) };
}

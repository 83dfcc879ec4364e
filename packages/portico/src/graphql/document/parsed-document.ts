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
import { Problem } from "../../errors.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import { type Failure, failureOf, failureOfDocument } from "../execute/failure.ts";
import { requireBoundedDocument } from "./document-limits.ts";
import type { GraphqlLimits } from "./graphql-limits.ts";
import { limitExceeded, requireWithin } from "./operation-limits.ts";

export interface ParsedDocument {
  readonly document: DocumentNode;
  readonly operations: readonly OperationDefinitionNode[];
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Tells it apart from all others; undefined where it is not kept. */
  readonly number: number | undefined;
}

/** A character of a document is some hundred bytes once it is parsed. */
const maxCharacters = 256 * 1024;
/** Longer documents are parsed whenever they come. */
const maxCachedLength = 16 * 1024;
/** Of the faults that validation finds. */
const maxErrors = 10;

/** How graphql-js says that it has stopped. */
const tooManyTokensPattern = /^Syntax Error: Document contains more than \d+ (tokens|comments)/;

export class DocumentParser {
  readonly #schema: GraphQLSchema;
  readonly #limits: GraphqlLimits;
  readonly #cache = new BoundedMap<string, ParsedDocument>(maxCharacters, (text) => text.length);
  /** Too long to be kept: the same request asks for it again, whether it is a subscription and then to run it. */
  #lastLong: { readonly text: string; readonly found: ParsedDocument } | undefined;
  #count = 0;

  constructor(schema: GraphQLSchema, limits: GraphqlLimits) {
    this.#schema = schema;
    this.#limits = limits;
  }

  /** The document, or everything that is wrong with it. */
  parse(text: string): ParsedDocument | readonly Failure[] {
    const cached = this.#lastLong?.text === text ? this.#lastLong.found : this.#cache.get(text);
    if (cached) return cached;
    const result = this.#parse(text);
    if (!("document" in result)) return result;
    if (text.length > maxCachedLength) {
      this.#lastLong = { text, found: result };
      return result;
    }
    this.#count += 1;
    const numbered = { ...result, number: this.#count };
    this.#cache.set(text, numbered);
    return numbered;
  }

  #parse(text: string): ParsedDocument | readonly Failure[] {
    try {
      requireWithin("characters", text.length, this.#limits);
      const document = parse(text, {
        maxLexicalTokens: this.#limits.tokens,
        maxComments: this.#limits.tokens,
      });
      requireBoundedDocument(document, this.#limits);
      const errors = validate(this.#schema, document, undefined, { maxErrors: maxErrors });
      if (errors.length > 0) return errors.map((fault) => failureOfDocument(fault, "validation_error"));
      return parsed(document);
    } catch (error) {
      return [this.#failure(error)];
    }
  }

  #failure(error: unknown): Failure {
    if (error instanceof Problem) return failureOf(error);
    if (error instanceof GraphQLError && tooManyTokensPattern.test(error.message))
      return failureOf(limitExceeded("tokens", this.#limits));
    if (error instanceof GraphQLError) return failureOfDocument(error, "malformed_request");
    // Deeper than the stack of the parser, which is deeper than any limit.
    if (error instanceof RangeError) return failureOf(limitExceeded("depth", this.#limits));
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
  return { document, operations, fragments, number: undefined };
}

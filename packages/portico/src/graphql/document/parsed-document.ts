// Parses and validates documents, and caches them. The size of the cache is limited by the size of the documents.

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
import { requireDocumentWithinLimits } from "./document-limits.ts";
import type { GraphqlLimits } from "./graphql-limits.ts";
import { limitExceeded, requireWithin } from "./operation-limits.ts";

export interface ParsedDocument {
  readonly document: DocumentNode;
  readonly operations: readonly OperationDefinitionNode[];
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Identifies a cached document; undefined if it is not cached. */
  readonly number: number | undefined;
}

/** Characters of all cached documents. A character needs about a hundred bytes once it is parsed. */
const maxCachedCharacters = 256 * 1024;
/** Characters of a cached document. Longer ones are parsed for each request. */
const maxCachedLength = 16 * 1024;
/** Validation stops after this number of errors. */
const maxErrors = 10;

/** The error of graphql-js for too many tokens. */
const tooManyTokensPattern = /^Syntax Error: Document contains more than \d+ (tokens|comments)/;

export class DocumentParser {
  readonly #schema: GraphQLSchema;
  readonly #limits: GraphqlLimits;
  readonly #cache = new BoundedMap<string, ParsedDocument>(maxCachedCharacters, (text) => text.length);
  /** The last document that was too long for the cache. A request needs it twice: to choose a transport, and to run. */
  #lastLong: { readonly text: string; readonly parsed: ParsedDocument } | undefined;
  #count = 0;

  constructor(schema: GraphQLSchema, limits: GraphqlLimits) {
    this.#schema = schema;
    this.#limits = limits;
  }

  /** The document, or its errors. */
  parse(text: string): ParsedDocument | readonly Failure[] {
    const cached = this.#lastLong?.text === text ? this.#lastLong.parsed : this.#cache.get(text);
    if (cached) return cached;
    const result = this.#parse(text);
    if (!("document" in result)) return result;
    if (text.length > maxCachedLength) {
      this.#lastLong = { text, parsed: result };
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
      requireDocumentWithinLimits(document, this.#limits);
      const errors = validate(this.#schema, document, undefined, { maxErrors });
      if (errors.length > 0) return errors.map((error) => failureOfDocument(error, "validation_error"));
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
    // The parser has exhausted the stack, which is deeper than any limit.
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

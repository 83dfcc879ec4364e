// The limits of GraphQL operations, which settings can change. This file imports nothing, so that settings do not load
// graphql-js.

export interface GraphqlLimits {
  /** Characters of a document. */
  readonly characters: number;
  /** Tokens of a document. */
  readonly tokens: number;
  /** Operations of a document. */
  readonly operations: number;
  /** Fragment definitions of a document. */
  readonly fragments: number;
  /** Characters of a name or alias. */
  readonly name: number;
  /** Fields of an operation. The fields of a fragment count each time it is spread. */
  readonly fields: number;
  /** Levels of nested fields. */
  readonly depth: number;
  /** Levels of nested selection sets, including those of fragments. */
  readonly nesting: number;
  /** Pairs of fields that validation compares because they can have the same response name. */
  readonly comparisons: number;
  /** Maximum number of rows in the result. */
  readonly cost: number;
  /** Mutations of an operation. They are one transaction, during which SQLite has no other writer. */
  readonly mutations: number;
  /** Characters of the strings in the result, if each has its maximum length. */
  readonly size: number;
  /** Characters of the names in the result, with full lists. */
  readonly names: number;
}

export const standardLimits: GraphqlLimits = {
  characters: 128 * 1024,
  tokens: 10_000,
  operations: 50,
  fragments: 250,
  name: 1_000,
  fields: 1_000,
  depth: 15,
  nesting: 100,
  comparisons: 30_000,
  cost: 25_000,
  mutations: 100,
  size: 250_000_000,
  names: 8 * 1024 * 1024,
};

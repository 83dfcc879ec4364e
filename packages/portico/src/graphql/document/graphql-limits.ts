// The bounds of what a caller may ask for. Settings read them, so that they stand apart from all that needs graphql-js.

export interface GraphqlLimits {
  /** Characters of a document. */
  readonly characters: number;
  /** Tokens of a document. */
  readonly tokens: number;
  /** Operations of a document. */
  readonly operations: number;
  /** Fragments that a document defines. */
  readonly fragments: number;
  /** Characters of a name, an alias among them. */
  readonly name: number;
  /** Fields of an operation, with those of fragments counted wherever they are used. */
  readonly fields: number;
  /** Fields inside one another. */
  readonly depth: number;
  /** Selections inside one another, fragments among them. */
  readonly nesting: number;
  /** Pairs of fields that may be the same field of the answer: validation compares each two. */
  readonly comparisons: number;
  /** Rows that an operation could answer with. */
  readonly cost: number;
  /** Characters of the texts in them, were each as long as its declaration allows. */
  readonly size: number;
  /** Characters of the names in an answer, with lists counted as full. */
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
  size: 250_000_000,
  names: 8 * 1024 * 1024,
};

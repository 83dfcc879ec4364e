// The bounds of what a caller may ask for. Settings read them, so that they stand apart from all that needs graphql-js.

export interface GraphqlLimits {
  /** Tokens of a document. */
  readonly tokens: number;
  /** Fields of an operation, with those of fragments counted wherever they are used. */
  readonly fields: number;
  /** Fields inside one another. */
  readonly depth: number;
  /** Rows that an operation could answer with. */
  readonly cost: number;
  /** Characters of the texts in them, were each as long as its declaration allows. */
  readonly size: number;
}

export const standardLimits: GraphqlLimits = {
  tokens: 10_000,
  fields: 1_000,
  depth: 15,
  cost: 25_000,
  size: 250_000_000,
};

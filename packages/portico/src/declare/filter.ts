// The helpers that declare filters.

/** A filter: a field, or what `range`, `contains` and `startsWith` return. */
export type LooseFilter =
  | string
  | { readonly range: string }
  | { readonly contains: string }
  | { readonly startsWith: string };

/**
 * Declares the filters `field[gte]`, `[gt]`, `[lte]` and `[lt]` in addition to those of the field's name.
 *
 * @example filter: ["status", range("createdAt")]
 */
export function range<const Name extends string>(name: Name): { readonly range: Name } {
  return { range: name };
}

/**
 * Declares the filter `field[contains]`, which is case-sensitive. No index serves it: it reads row after row until the
 * page is full. For words, `search` is faster.
 *
 * @example filter: [contains("title")]
 */
export function contains<const Name extends string>(name: Name): { readonly contains: Name } {
  return { contains: name };
}

/**
 * Declares the filter `field[startsWith]`, which is case-sensitive.
 *
 * @example filter: [startsWith("sku")]
 */
export function startsWith<const Name extends string>(name: Name): { readonly startsWith: Name } {
  return { startsWith: name };
}

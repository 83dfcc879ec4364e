// The helpers that declare filters.

/** A filter: a field, or what `range`, `contains` and `startsWith` return. */
export type LooseFilter =
  | string
  | { readonly range: string }
  | { readonly contains: string }
  | { readonly startsWith: string };

/** Declares the filters `field[gte|gt|lte|lt]=` in addition to `field=`. `filter: ["status", range("createdAt")]` */
export function range<const Name extends string>(name: Name): { readonly range: Name } {
  return { range: name };
}

/** Declares the filter `field[contains]=`. Case matters. It reads every row of the page's order: prefer `search`. */
export function contains<const Name extends string>(name: Name): { readonly contains: Name } {
  return { contains: name };
}

/** Declares the filter `field[startsWith]=`. Case matters. */
export function startsWith<const Name extends string>(name: Name): { readonly startsWith: Name } {
  return { startsWith: name };
}

// What code returned, before anything is known about it.

export type PlainObject = Readonly<Record<string, unknown>>;

/** Whether a value is an object of no class. A promise, for example, has no members and would exclude no row. */
export function isPlainObject(value: unknown): value is PlainObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** A value in messages. */
export function describeValue(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "undefined";
  if (Array.isArray(value)) return "a list";
  if (value instanceof Promise) return "a promise";
  if (isPlainObject(value)) return "an object";
  return typeof value === "object" ? "an object of a class" : `a ${typeof value}`;
}

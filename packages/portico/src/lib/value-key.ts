// Texts that identify values, for maps whose keys are values.

/**
 * Returns the same text for equal values and different texts for different ones. JSON is not enough: it omits members
 * that are undefined, and represents `NaN` as null and a date as a string.
 *
 * @throws Error for functions, symbols and objects of classes other than Date
 */
export function valueKey(value: unknown): string {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return JSON.stringify(value);
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (value === undefined) return "undefined";
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return `[${Array.from(value, valueKey).join(",")}]`;
  if (value instanceof Date) return `Date(${value.getTime()})`;
  if (typeof value === "object" && isPlain(value)) {
    const members = Object.entries(value).map(
      ([name, member]) => `${JSON.stringify(name)}:${valueKey(member)}`,
    );
    return `{${members.join(",")}}`;
  }
  throw new Error(`${typeof value} has no key`);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

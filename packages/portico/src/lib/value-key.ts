// Texts that tell values apart, for maps whose keys are values.

/**
 * A text that two values share only where they are the same. JSON is not enough: it leaves out members that are
 * undefined, and writes what is no JSON as something else - `NaN` as null, a date as text.
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
  throw new Error(`${typeof value} cannot be told apart from others`);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

// Bounds keywords of JSON Schema whose cost grows faster than the value, because Ajv evaluates each of them even after
// others failed. Patterns and formats are tested on texts within `maxLength` only, and `uniqueItems` compares each item once.

import type { Ajv, AnySchemaObject, Format } from "ajv";
import type { DataValidateFunction } from "ajv/dist/types/index.js";
import { defaultMaxLength } from "../../model/json-schema.ts";

/** Replaces keywords of Ajv by bounded ones. Call it after the formats have been added. */
export function boundKeywords(ajv: Ajv): void {
  for (const keyword of ["pattern", "format", "uniqueItems"]) ajv.removeKeyword(keyword);
  ajv.addKeyword({
    keyword: "pattern",
    type: "string",
    schemaType: "string",
    compile: (source: string, parent) => {
      const pattern = new RegExp(source, "u");
      return boundedTextValidator(parent, (text) => pattern.test(text), {
        keyword: "pattern",
        params: { pattern: source },
      });
    },
  });
  ajv.addKeyword({
    keyword: "format",
    type: "string",
    schemaType: "string",
    compile: (name: string, parent, { opts }) =>
      // Ajv itself validates schemas without formats.
      opts.validateFormats === false
        ? () => true
        : boundedTextValidator(parent, formatTest(name, ajv.formats[name]), {
            keyword: "format",
            params: { format: name },
          }),
  });
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    compile: (isUnique: boolean) => {
      const validate: DataValidateFunction = (items: readonly unknown[]) =>
        !isUnique || new Set(items.map(canonical)).size === items.length;
      return validate;
    },
  });
}

/** What an error of Ajv has besides its path. */
interface KeywordError {
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}

function boundedTextValidator(
  { maxLength }: AnySchemaObject,
  isMet: (text: string) => boolean,
  error: KeywordError,
): DataValidateFunction {
  const bound: number = maxLength ?? defaultMaxLength;
  const validate: DataValidateFunction = (text: string) => {
    // The keyword `maxLength` reports a text that is too long.
    const isWithin = hasAtMostCharacters(text, bound);
    if (isWithin ? isMet(text) : maxLength !== undefined) return true;
    // Ajv writes the path into the object.
    validate.errors = [isWithin ? { ...error } : { keyword: "maxLength", params: { limit: bound } }];
    return false;
  };
  return validate;
}

/** Whether a text has at most so many characters, each of which takes one or two UTF-16 units. */
function hasAtMostCharacters(text: string, bound: number): boolean {
  if (text.length <= bound) return true;
  return text.length <= 2 * bound && [...text].length <= bound;
}

/** @throws Error for a format that is unknown or does not apply to text */
function formatTest(name: string, format: Format | undefined): (text: string) => boolean {
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === "function") return format as (text: string) => boolean;
  if (typeof format === "object" && "validate" in format) {
    const { validate } = format;
    if (validate instanceof RegExp) return (text) => validate.test(text);
    if (typeof validate === "function") return validate as (text: string) => boolean;
  }
  throw new Error(`unknown format "${name}"`);
}

/** Text that is equal for equal values of JSON; the order of members does not matter. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, inner) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}

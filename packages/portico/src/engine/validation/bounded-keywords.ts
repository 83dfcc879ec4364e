// Keywords of JSON Schema whose cost grows faster than the value, bounded: Ajv runs each of them whatever others found.
// Patterns and formats run on texts within their `maxLength` only, and `uniqueItems` compares each item once.

import type { Ajv, AnySchemaObject, Format } from "ajv";
import type { DataValidateFunction } from "ajv/dist/types/index.js";
import { defaultMaxLength } from "../../model/json-schema.ts";

/** Puts bounded keywords in the place of Ajv's. Call it once the formats are known. */
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
      // As when Ajv looks at a schema itself.
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

/** What Ajv makes an error of, beside the place. */
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
    // Too long a text is told by `maxLength`, where there is one.
    const isWithin = hasAtMostCharacters(text, bound);
    if (isWithin ? isMet(text) : maxLength !== undefined) return true;
    // Ajv writes the place into it.
    validate.errors = [isWithin ? { ...error } : { keyword: "maxLength", params: { limit: bound } }];
    return false;
  };
  return validate;
}

/** Whether a text has at most so many characters, of which each takes one or two places. */
function hasAtMostCharacters(text: string, bound: number): boolean {
  if (text.length <= bound) return true;
  return text.length <= 2 * bound && [...text].length <= bound;
}

/** @throws Error for a format that is not known, or not one of texts */
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

/** Equal for equal values of JSON, in whatever order their members stand. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, inner) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}

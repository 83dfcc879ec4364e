// Example values, made from declarations and schemas: ids in the form of ids, declared choices and defaults, texts of an
// allowed length. The same declaration always has the same examples.

import { csvHeader, csvLines } from "../lib/csv.ts";
import { exampleId } from "../lib/id.ts";
import { attributeSchema, type JsonSchema } from "../model/json-schema.ts";
import type { Attribute, ResourceModel } from "../model/model.ts";
import { textMatching } from "./pattern-example.ts";

const exampleTime = "2026-11-21T09:30:00.000Z";
const exampleDay = "2026-11-21";
const urlName = /(?:^u|U)r[il]$/;

type Row = Readonly<Record<string, unknown>>;

/** A row as responses show it; undefined if a value has no example. */
export function exampleRow({ attributes, idPrefix }: ResourceModel): Row | undefined {
  const shown = attributes.filter(({ isInternal }) => !isInternal);
  return complete(
    shown.map((each) => {
      if (each.name === "id") return [each.name, exampleId(idPrefix)];
      if (each.field.kind === "file") return [each.name, exampleFile(each.field.options.types)];
      return [each.name, exampleOfAttribute(each)];
    }),
  );
}

/** A body that creates or replaces a row: required fields, and others that have a simple value. */
export function exampleBody(attributes: readonly Attribute[]): Row | undefined {
  const writable = attributes.filter(({ isReadOnly }) => !isReadOnly);
  const needed = writable.filter(isRequired);
  const others = writable.filter((each) => !isRequired(each) && isSimple(each) && !isConditional(each));
  const required = complete(needed.map((each) => [each.name, exampleOfAttribute(each)]));
  const optional = others.map((each) => [each.name, exampleOfAttribute(each)] as const);
  return required && { ...required, ...Object.fromEntries(optional.filter(([, value]) => isFlat(value))) };
}

/** A body that changes a field of a row. */
export function exampleChanges(attributes: readonly Attribute[]): Row | undefined {
  const changeable = attributes.filter(({ isReadOnly, isImmutable }) => !isReadOnly && !isImmutable);
  const first = changeable.find(isSimple) ?? changeable[0];
  return first && complete([[first.name, exampleOfAttribute(first)]]);
}

/** A row as the lines of an export or import have it; undefined for other media types. */
export function exampleLines(type: string, row: Row): string | undefined {
  const line = JSON.stringify(row);
  if (type === "application/x-ndjson") return `${line}\n`;
  if (type !== "text/csv") return undefined;
  const columns = Object.keys(row).map((name) => ({ path: [name], isJson: false }));
  return csvHeader({ columns }) + csvLines([line], { columns, escapesFormulas: false });
}

function isRequired({ isOptional, field }: Attribute): boolean {
  return !isOptional && !("default" in field.options);
}

/** Whether a constant is often refused: a time may have passed, and a URL is often accepted with another field only. */
function isConditional({ name, field }: Attribute): boolean {
  return field.kind === "timestamp" || (field.kind === "text" && urlName.test(name));
}

/** Whether it is an example without objects in objects and lists, which often have rules that no schema says. */
function isFlat(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value !== undefined;
  return Object.values(value).every((each) => typeof each !== "object");
}

/** Whether its value is independent of other rows and files. */
function isSimple({ reference, links, field }: Attribute): boolean {
  return !reference && !links && field.kind !== "file" && field.kind !== "id";
}

function exampleOfAttribute(attribute: Attribute): unknown {
  const { reference, links, field, name } = attribute;
  if (reference) return exampleId(reference.target.idPrefix);
  if (links) return [exampleId(links.target.idPrefix)];
  if (field.kind === "file") return exampleId("file");
  if (field.kind === "id") return exampleId(name.replace(/Id$/, "").toLowerCase() || "row");
  const { min, max } = field.options as { min?: unknown; max?: unknown };
  if (field.kind === "date") return clamped(exampleDay, min, max);
  if (field.kind === "decimal") return exampleDecimal(field.options);
  return exampleOf(attributeSchema({ ...attribute, isOptional: false }), name);
}

function exampleFile([type = "application/pdf"]: readonly string[] = []): Row {
  const shown = type.endsWith("/*") ? `${type.slice(0, -1)}png` : type;
  const id = exampleId("file");
  const url = `https://api.example.com/v1/files/${id}?expires=1795251300&signature=5Xh0YwRzC3h2m0mJ`;
  return { id, name: `document.${shown.split("/")[1]}`, type: shown, size: 1024, url };
}

function exampleDecimal({ scale, min, max }: { scale: number; min?: string; max?: string }): string {
  const low = Number(min ?? 0);
  const value = low > 0 ? low : Math.min(10, Number(max ?? 10));
  return value.toFixed(scale);
}

function clamped(value: string, min: unknown, max: unknown): string {
  if (typeof min === "string" && value < min) return min;
  return typeof max === "string" && value > max ? max : value;
}

/** An example for a schema; undefined if none can be made. @param name of the value, which a text repeats */
export function exampleOf(schema: JsonSchema, name = "value"): unknown {
  const { const: constant, enum: choices, default: value, type } = schema;
  if (constant !== undefined) return constant;
  if (value !== undefined && value !== "" && value !== null && !isEmptyList(value)) return value;
  if (Array.isArray(choices)) return choices[0];
  switch ([type].flat()[0]) {
    case "string":
      return exampleText(schema, name);
    case "integer":
    case "number":
      return exampleNumber(schema);
    case "boolean":
      return false;
    case "array":
      return exampleList(schema, name);
    case "object":
      return exampleObject(schema);
    case "null":
      return null;
    default:
      // A schema that accepts any value.
      return type === undefined && Object.keys(schema).every((each) => each === "description")
        ? {}
        : undefined;
  }
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** A text of each format. */
export const exampleTexts: Readonly<Record<string, string>> = {
  "date-time": exampleTime,
  date: exampleDay,
  // Nobody's: the first user of a sandbox is ada@example.com.
  email: "sam@example.com",
  uri: "https://example.com/page",
  "uri-reference": "/page",
  uuid: "0f8fad5b-d9cb-469f-a165-70867728950e",
};

/** Texts by the names of fields that accept no others, although their schemas do not say so. */
const knownTexts: readonly (readonly [names: RegExp, text: string])[] = [
  [urlName, exampleTexts.uri!],
  [/^scope$/, "users:read"],
  [/^eventType$/, "*"],
];

function exampleText(
  { format, pattern, minLength = 0, maxLength }: JsonSchema,
  name: string,
): string | undefined {
  const isOfLength = (text: string): boolean =>
    text.length >= Number(minLength) && text.length <= Number(maxLength ?? text.length);
  if (typeof pattern === "string") {
    const text = textMatching(pattern, Number(minLength));
    return text !== undefined && isOfLength(text) ? text : undefined;
  }
  if (typeof format === "string") {
    const text = exampleTexts[format];
    return text !== undefined && isOfLength(text) ? text : undefined;
  }
  if (/^id$|Id$/.test(name)) return exampleId(name.replace(/Id$/, "").toLowerCase());
  const known = knownTexts.find(([names]) => names.test(name))?.[1];
  if (known !== undefined && isOfLength(known)) return known;
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const text = `Example ${words}`.padEnd(Number(minLength), ".");
  return text.slice(0, Number(maxLength ?? text.length));
}

function exampleNumber({ minimum, maximum, exclusiveMinimum, multipleOf }: JsonSchema): number {
  const step = Number(multipleOf ?? 1);
  const low = minimum ?? (exclusiveMinimum === undefined ? undefined : Number(exclusiveMinimum) + step);
  const value = low === undefined || Number(low) < 1 ? step : Number(low);
  return maximum !== undefined && value > Number(maximum) ? Number(maximum) : value;
}

function exampleList({ items, minItems = 0 }: JsonSchema, name: string): readonly unknown[] | undefined {
  const item = items === undefined ? {} : exampleOf(items as JsonSchema, name.replace(/s$/, ""));
  if (item === undefined) return Number(minItems) === 0 ? [] : undefined;
  // More than one item of a set would have to differ.
  return Array.from({ length: Math.max(1, Number(minItems)) }, () => item);
}

function exampleObject({ properties = {}, required = [] }: JsonSchema): Row | undefined {
  const members = Object.entries(properties as Readonly<Record<string, JsonSchema>>);
  const values = members.map(([name, schema]) => [name, exampleOf(schema, name)] as const);
  const isMissing = values.some(
    ([name, value]) => value === undefined && (required as readonly string[]).includes(name),
  );
  return isMissing ? undefined : Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** The object of all values; undefined if one is missing. */
function complete(entries: readonly (readonly [name: string, value: unknown])[]): Row | undefined {
  return entries.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(entries);
}

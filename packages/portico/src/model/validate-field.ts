// Checks the options of a field.

import { type FieldShape, itemKinds, standardMaxItems } from "../declare/field.ts";
import {
  type Deprecation,
  type FileOptions,
  optionNames,
  type TextOptions,
} from "../declare/field-options.ts";
import { renameHint } from "../declare/renamed-options.ts";
import { parseTimestamp } from "../lib/timestamp.ts";
import { isTypePattern, sizeInBytes } from "./file-rules.ts";
import { type Refuse, validateComputedStatus, validateJson } from "./validate-behaviour.ts";
import { validateDate, validateDecimal } from "./validate-bounded-text.ts";

/** @param refuse throws with the name of the field */
export function validateField(shape: FieldShape, refuse: Refuse): void {
  const { options } = shape;
  if (optionNames[shape.kind] === undefined)
    refuse("write it with text(), integer(), choice() or another kind");
  if (shape.kind === "text") validateText(shape.options, refuse);
  if (shape.kind === "file") validateFile(shape.options, refuse);
  const known = optionNames[shape.kind];
  const unknown = Object.keys(options).find((option) => !known.includes(option));
  if (unknown !== undefined)
    refuse(renameHint("field", unknown) ?? `unknown option ${unknown}; use some of ${known.join(", ")}`);
  if (options.optional && "default" in options)
    refuse("has a default and is optional; remove one of the two");
  if ("fill" in options) validateFill(options, refuse);
  if (shape.kind === "decimal") validateDecimal(shape.options, refuse);
  else if (shape.kind === "date") validateDate(shape.options, refuse);
  else if (shape.kind !== "file") validateBounds(options, refuse);
  if (options.immutable && (options.readOnly || options.internal))
    refuse("is set by hooks only, so it cannot be immutable; remove one of the two");
  if ((options.readOnly || options.internal) && "default" in options && typeof options.default === "function")
    refuse("is set by hooks only, so its default must be a constant; compute the value in a hook");
  if (shape.kind === "choice") validateChoices(shape, refuse);
  if (shape.kind === "computedStatus") validateComputedStatus(shape, refuse);
  if (shape.kind === "json") validateJson(shape, refuse);
  if (shape.kind === "list") validateList(shape, refuse);
  if (shape.kind === "manyToMany") validateManyToMany(shape, refuse);
  if (shape.kind === "count") validateCount(shape, refuse);
  if (shape.kind === "timestamp" && !isTimestampDefault(shape.options.default ?? "now"))
    refuse("the default is not an ISO 8601 date and time; write it as 2027-01-31T09:00:00Z, or as now");
  validateDeprecation(options.deprecated, refuse);
}

function validateBounds(options: FieldShape["options"], refuse: Refuse): void {
  if ("min" in options && "max" in options && options.min! > options.max!) refuse("min is larger than max");
  if (!isDefaultInBounds(options)) refuse("the default is outside min and max");
}

function validateFill(
  options: { readonly optional?: boolean; readonly fill?: unknown },
  refuse: Refuse,
): void {
  const { optional, fill } = options;
  if (optional) refuse("is optional, so that rows need no value; remove fill");
  if (fill === undefined || fill === null)
    refuse("fill is a value, or a function of the row that returns one");
}

function validateList({ item, options }: Extract<FieldShape, { kind: "list" }>, refuse: Refuse): void {
  if (!(itemKinds as readonly string[]).includes(item?.kind))
    refuse(`a list holds ${itemKinds.join(", ")}${insteadOfList(item?.kind)}`);
  validateField(item, (remedy) => refuse(`its items: ${remedy}`));
  const wrong = Object.keys(item.options).find((option) => !itemOptions.includes(option));
  if (wrong !== undefined) refuse(`its items: unknown option ${wrong}; remove it, or set it on the list`);
  const { min = 0, max = standardMaxItems, default: standard } = options;
  if (![min, max].every((bound) => Number.isInteger(bound) && bound >= 0)) refuse("min and max count items");
  if (Array.isArray(standard) && (standard.length < min || standard.length > max))
    refuse("the default has fewer items than min or more than max");
}

/** What to declare instead of a list of another kind. */
function insteadOfList(kind: string | undefined): string {
  if (kind === "belongsTo" || kind === "manyToMany") return "; write manyToMany(() => labels)";
  if (kind === "json" || kind === "list") return "; write json({ schema })";
  return kind === undefined
    ? ": write list(text())"
    : `, not ${kind}; declare a child resource with this field`;
}

function validateCount({ of, options }: Extract<FieldShape, { kind: "count" }>, refuse: Refuse): void {
  const { where = {}, by = "" } = options;
  if (typeof of !== "function") refuse('write count(() => issues, { where: { status: "open" } })');
  if (typeof where !== "object" || where === null || Array.isArray(where))
    refuse('where is a condition on the counted rows, { status: "open" }');
  if (typeof by !== "string") refuse("by is the name of a reference");
}

/** The ids of a set are read and written together. */
const maxLinks = 1_000;

function validateManyToMany(
  { target, options }: Extract<FieldShape, { kind: "manyToMany" }>,
  refuse: Refuse,
): void {
  if (typeof target !== "function")
    refuse("write the other resource as a function: manyToMany(() => labels)");
  const { max = 1, singular = "label", onDelete, default: standard } = options;
  if (!Number.isInteger(max) || max < 1 || max > maxLinks)
    refuse(`max is a number of rows from 1 to ${maxLinks}`);
  if (typeof singular !== "string" || !/^[a-z][a-zA-Z0-9]{0,40}$/.test(singular))
    refuse('write singular as one word in camelCase, for example "label"');
  if (onDelete !== undefined && onDelete !== "restrict") refuse('onDelete is "restrict", or left out');
  if (!Array.isArray(standard) || standard.length > 0)
    refuse("its default is the empty list; remove default");
}

/** The options that the items of a list can have. */
const itemOptions = ["min", "max", "format", "pattern"];

/** Whether a constant default is within the bounds of its field. */
function isDefaultInBounds(options: FieldShape["options"]): boolean {
  if (!("default" in options) || !("min" in options || "max" in options)) return true;
  const { default: value, min = -Infinity, max = Infinity } = options;
  if (typeof value !== "number" && typeof value !== "string") return true;
  // Only dates and decimals, which have checks of their own, have bounds that are texts.
  if (typeof min === "string" || typeof max === "string") return true;
  const size = typeof value === "string" ? [...value].length : value;
  return size >= min && size <= max;
}

function isTimestampDefault(value: string): boolean {
  return value === "now" || parseTimestamp(value) !== undefined;
}

function validateText({ min = 0, max = 0, pattern, format }: TextOptions, refuse: Refuse): void {
  for (const bound of [min, max])
    if (!Number.isInteger(bound) || bound < 0) refuse("min and max count characters: whole numbers from 0");
  if (format !== undefined && format !== "email" && format !== "uri") refuse("format is email or uri");
  if (pattern === undefined) return;
  if (!(pattern instanceof RegExp) || pattern.flags !== "")
    refuse("pattern is a regular expression without flags");
  try {
    new RegExp(pattern.source, "u");
  } catch {
    refuse("pattern must be valid with the flag u, as JSON Schema reads it");
  }
}

function validateChoices(shape: Extract<FieldShape, { kind: "choice" }>, refuse: Refuse): void {
  if (shape.choices.length === 0) refuse("add at least one choice");
  if (new Set(shape.choices).size < shape.choices.length) refuse("a choice is listed twice; remove one");
  const value = shape.options.default;
  if (value !== undefined && !shape.choices.includes(value)) {
    refuse(`the default '${value}' is not one of the choices; use one of ${shape.choices.join(", ")}`);
  }
}

function validateFile({ max, types }: FileOptions, refuse: Refuse): void {
  if (max !== undefined && sizeInBytes(max) === undefined)
    refuse('max is a size of at most 1 GB: max: "10 MB"');
  if (types === undefined) return;
  if (!Array.isArray(types) || types.length === 0 || !types.every(isTypePattern))
    refuse('types is a list of media types: types: ["image/*", "application/pdf"]');
}

/** Whether a text can be the target of a header `Link` as it is (RFC 8288, section 3). */
function isWebAddress(text: unknown): boolean {
  return (
    typeof text === "string" && /^https?:\/\/[\x21\x23-\x3b\x3d\x3f-\x7e]+$/.test(text) && URL.canParse(text)
  );
}

export function validateDeprecation(deprecated: Deprecation | undefined, refuse: Refuse): void {
  if (!deprecated) return;
  if (deprecated.link !== undefined && !isWebAddress(deprecated.link))
    refuse('deprecated.link is the address of a page: "https://example.com/changes"');
  const since = Date.parse(deprecated.since);
  const sunset = deprecated.sunset === undefined ? since : Date.parse(deprecated.sunset);
  if (Number.isNaN(since) || Number.isNaN(sunset))
    refuse("deprecated.since and .sunset are ISO dates, 2027-01-31");
  if (sunset < since) refuse("deprecated.sunset is earlier than deprecated.since; RFC 8594 forbids that");
}

// The fields of `users.extend` that people edit at `/account`: as texts in a form, and as values of a request.

import type { Problem } from "../../errors.ts";
import type { Attribute, Model } from "../../model/model.ts";
import { attributeControl, type EditedValue, labelOf } from "../pages/attribute-control.ts";

/** Browsers leave out seconds that are zero. */
const localTime = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d(?:\.\d{1,3})?)?$/;
const decimalNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** The fields that the app adds, that people may change, and for which there is a control. */
export function ownFields({
  resource,
  selfEditable,
}: Pick<Model, "resource" | "selfEditable">): readonly Attribute[] {
  const { attribute } = resource.get("user")!;
  return selfEditable
    .map((name) => attribute.get(name)!)
    .filter((each) => !builtIn.has(each.name) && attributeControl({ attribute: each, entered: "" }));
}

/** They have forms of their own. */
const builtIn: ReadonlySet<string> = new Set(["name", "email"]);

/** The values as a form shows them. */
export function editedValues(
  fields: readonly Attribute[],
  user: Readonly<Record<string, unknown>>,
): readonly EditedValue[] {
  return fields.map((attribute) => ({ attribute, entered: textOf(attribute, user[attribute.name]) }));
}

/** The values as a refused form contained them. */
export function enteredValues(fields: readonly Attribute[], form: URLSearchParams): readonly EditedValue[] {
  return fields.map((attribute) => ({ attribute, entered: form.get(attribute.name) ?? "" }));
}

/** The body of a request that sets what a form contains. It may be invalid, as any body. */
export function bodyOf(fields: readonly Attribute[], form: URLSearchParams): Record<string, unknown> {
  const entered = fields.flatMap((attribute) => {
    const text = form.get(attribute.name);
    return text === null ? [] : [[attribute.name, enteredValue(attribute, text)] as const];
  });
  return Object.fromEntries(entered);
}

/** Why the values were refused, for the person who has entered them. */
export function refusalText(fields: readonly Attribute[], { message, details }: Problem): string {
  const texts = details.flatMap(({ field, issue }) => {
    const attribute = fields.find(({ name }) => name === field);
    if (!attribute) return [];
    return `${labelOf(attribute)} is ${issue === "duplicate" ? "taken already" : "not valid"}.`;
  });
  return texts.length > 0 ? texts.join(" ") : message;
}

function textOf({ field }: Attribute, value: unknown): string {
  if (value === null || value === undefined) return "";
  return field.kind === "timestamp" ? String(value).replace(/Z$/, "") : String(value);
}

function enteredValue({ field, isOptional }: Attribute, text: string): unknown {
  if (text === "" && isOptional) return null;
  switch (field.kind) {
    case "boolean":
      return text === "true" || (text === "false" ? false : text);
    case "integer":
    case "number":
      return decimalNumber.test(text.trim()) ? Number(text) : text;
    case "decimal":
      return text.trim();
    case "timestamp":
      return text.replace(localTime, (_, minutes: string, seconds = ":00") => `${minutes}${seconds}Z`);
    default:
      // Forms send line breaks as CR LF.
      return text.replaceAll("\r\n", "\n");
  }
}

// The fields of a form as the members of a body.

import { InvalidInput } from "../engine/validation/invalid-input.ts";
import { Problem } from "../errors.ts";
import { attributeSchema } from "../model/json-schema.ts";
import type { Attribute, ResourceModel } from "../model/model.ts";

/** A part of a form that is not a file. */
export interface FormField {
  readonly name: string;
  readonly value: string;
  /** Whether its type is `application/json`. */
  readonly isJson: boolean;
}

/**
 * The body that the parts of a form describe. The value of a part is read by the kind of its field; one of the type
 * `application/json` that no field is named after has several members.
 *
 * @throws InvalidInput for a field that occurs twice
 * @throws Problem `malformed_request` for what is not JSON
 */
export function bodyOfForm({ attribute }: ResourceModel, fields: readonly FormField[]): [string, unknown][] {
  const members = fields.flatMap(({ name, value, isJson }): [string, unknown][] => {
    const known = attribute.get(name);
    if (isJson) return known ? [[name, parsed(value, name)]] : membersOf(parsed(value, name), name);
    return [[name, known ? formValue(known, value) : value]];
  });
  requireSingle(members.map(([name]) => name));
  return members.filter(([, value]) => value !== undefined);
}

/** @throws InvalidInput for a name that occurs twice */
export function requireSingle(names: readonly string[]): void {
  const seen = new Set<string>();
  // A body may have 100,000 of them.
  const twice = names.find((name) => seen.size === seen.add(name).size);
  if (twice === undefined) return;
  throw new InvalidInput([{ field: twice.slice(0, 100), issue: "duplicate", text: "must occur only once" }]);
}

function membersOf(value: unknown, name: string): [string, unknown][] {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return Object.entries(value);
  throw new Problem("malformed_request", `The part ${name.slice(0, 100)} is not a JSON object.`);
}

function parsed(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem("malformed_request", `The part ${name.slice(0, 100)} is not JSON.`);
  }
}

/** The value of a field. Text that no value of the field has is left as it is, and validation reports it. */
function formValue(attribute: Attribute, text: string): unknown {
  const types = [attributeSchema(attribute).type ?? "any"].flat();
  // A form sends an empty text for what is left empty.
  if (text === "" && attribute.field.kind !== "text") return attribute.isOptional ? null : undefined;
  if (text === "" && attribute.isOptional) return null;
  if (types.includes("string")) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

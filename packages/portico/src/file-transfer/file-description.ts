// What a sender says about a file: checked and cleaned before it is used.

import type { InputError } from "../errors.ts";
import { cleanFileName } from "../files/file-name.ts";
import { allowsType, isMediaType, maxFileBytes } from "../model/file-rules.ts";
import type { Attribute } from "../model/model.ts";

/** The media type of a file whose sender names none. */
const unknownType = "application/octet-stream";

/** The type without parameters, in lower case. */
function typeOf(text: string | undefined): string {
  return (text ?? unknownType).split(";")[0]!.trim().toLowerCase() || unknownType;
}

export interface DescribedFile {
  readonly name: string;
  readonly type: string;
  readonly max: number;
}

/**
 * @param attribute the field for the file
 * @param at the name of the member that has the type, in errors
 * @returns the description, or what is wrong with it
 */
export function describedFile(
  { field, name: fieldName }: Attribute,
  name: string,
  type: string | undefined,
  at: string = fieldName,
): DescribedFile | InputError {
  if (field.kind !== "file") return { field: at, issue: "unknown", text: "is not a field for files" };
  const described = { name: cleanFileName(name), type: typeOf(type), max: maxFileBytes(field.options) };
  if (!isMediaType(described.type)) return { field: at, issue: "format", text: "has no valid media type" };
  if (allowsType(field.options, described.type)) return described;
  return { field: at, issue: "choice", text: `must be of the type ${field.options.types!.join(" or ")}` };
}

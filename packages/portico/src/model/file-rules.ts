// What a field of files allows: sizes and media types.

import type { FileOptions } from "../declare/field-options.ts";

/** The size of a file without `max`. */
const standardMax = "10 MB";
const units: Readonly<Record<string, number>> = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9 };
/** A whole file is sent to the storage at once, within one request. */
const largest = 1e9;

/** The bytes of a size: `"10 MB"`, or a number; undefined for one that is none, or that no file may have. */
export function sizeInBytes(size: unknown): number | undefined {
  const [, count = "", unit = "B"] = /^(\d{1,10}(?:\.\d{1,3})?) ?(B|KB|MB|GB)?$/.exec(String(size)) ?? [];
  const bytes = Math.floor(Number(count) * units[unit]!);
  return count !== "" && bytes >= 1 && bytes <= largest ? bytes : undefined;
}

/** The maximum size of a file in bytes. */
export function maxFileBytes({ max = standardMax }: FileOptions): number {
  // The declaration has been validated.
  return sizeInBytes(max)!;
}

const name = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

/** Whether a text is a media type without parameters, in lower case (RFC 6838, section 4.2). */
export function isMediaType(text: string): boolean {
  const [type = "", subtype = "", ...rest] = text.split("/");
  return rest.length === 0 && name.test(type) && name.test(subtype);
}

/** Whether a value is a media type, or stands for all of one kind: `image/*`. */
export function isTypePattern(pattern: unknown): boolean {
  return typeof pattern === "string" && isMediaType(pattern.replace(/\/\*$/, "/x"));
}

/** Whether a file may have a media type. */
export function allowsType({ types }: FileOptions, type: string): boolean {
  if (types === undefined) return true;
  return types.some((each) => (each.endsWith("/*") ? type.startsWith(each.slice(0, -1)) : each === type));
}

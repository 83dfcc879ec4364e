// Email addresses, as the format `email` of fields defines them.

import { fullFormats } from "ajv-formats/dist/formats.js";

export const maxEmailLength = 254;

/** Whether a field with the format `email` takes a text. */
export function isEmailAddress(text: string): boolean {
  return text.length <= maxEmailLength && (fullFormats.email as RegExp).test(text);
}

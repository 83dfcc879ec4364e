// How large an answer may be, on both databases alike.

import { Problem } from "../errors.ts";

const kibibyte = 1024;

/** An answer of up to this size is read like any other; a larger one is read beside other requests, few at once. */
export const quickAnswerBytes = 1024 * kibibyte;

/** No answer is larger. A page of rows ends early instead. */
export const maxAnswerBytes = 16 * 1024 * kibibyte;

/** One token of quota is charged for so much of an answer, or of what subscriptions are sent. */
export const bytesOfToken = 100 * kibibyte;

/** A character of UTF-16 in UTF-8, at most. */
const maxCharacterBytes = 3;

/** The tokens of quota that an answer costs beside the one of its request: one for each 100 KiB beyond the first. */
export function tokensOf(answer: string): number {
  if (answer.length * maxCharacterBytes <= bytesOfToken) return 0;
  return Math.ceil(Buffer.byteLength(answer) / bytesOfToken) - 1;
}

/** @param field the parameter that a caller can change */
export class AnswerTooLarge extends Problem {
  constructor(field: "limit" | "fields" = "fields", cause?: unknown) {
    const message = "The answer would be larger than 16 MiB. Ask for fewer rows or fields at once.";
    super("validation_error", message, [{ field, issue: "max" }], {}, cause);
  }
}

// Limits of the size of a response, the same on both databases.

import { Problem } from "../errors.ts";

const kibibyte = 1024;

/** Larger responses are read by separate workers, few at a time. */
export const quickAnswerBytes = 1024 * kibibyte;

/** The largest response. A page of rows ends early instead of exceeding it. */
export const maxAnswerBytes = 16 * 1024 * kibibyte;

/** The bytes of a response, or of messages to subscriptions, that cost one token of a quota. */
export const bytesOfToken = 100 * kibibyte;

/** A character of UTF-16 in UTF-8, at most. */
export const maxCharacterBytes = 3;

/** The tokens that a response costs on top of the one for its request: one for each 100 KiB after the first. */
export function tokensOf(answer: string): number {
  if (answer.length * maxCharacterBytes <= bytesOfToken) return 0;
  return Math.ceil(Buffer.byteLength(answer) / bytesOfToken) - 1;
}

/** @param field the parameter that a caller can change */
export class AnswerTooLarge extends Problem {
  constructor(field: "limit" | "fields" = "fields", cause?: unknown) {
    const message = "The response would be larger than 16 MiB. Request fewer rows or fields at once.";
    super("validation_error", message, [{ field, issue: "max" }], {}, cause);
  }
}

// Texts that both databases can store.

/** Whether a text is well-formed Unicode without U+0000. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** The text with U+FFFD in place of what cannot be stored. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

// Texts that both databases can store.

/** Whether a text is well-formed Unicode without U+0000. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

// Comparison of entity tags (RFC 9110, section 8.8.3.2).

/** Whether a list of tags, or `*`, contains a tag. Weak tags match only in the weak comparison. */
export function matchesTag(list: string, tag: string, isWeak: boolean): boolean {
  if (list.trim() === "*") return true;
  return list.split(",").some((each) => {
    const candidate = each.trim();
    return candidate === tag || (isWeak && candidate === `W/${tag}`);
  });
}

// Renames and removes members of a JSON object in its text, which keeps every value as it is written: a parsed number could change.

/**
 * Renames members of the outermost object, and removes some.
 *
 * @param text a valid JSON object
 * @param names the new names by the old ones; null for members to remove
 * @example
 * renameMembers('{"a":{"a":1.0},"c":2}', new Map([["a", "b"], ["c", null]])); // '{"b":{"a":1.0}}'
 */
export function renameMembers(text: string, names: ReadonlyMap<string, string | null>): string {
  if (names.size === 0) return text;
  let renamed = "";
  let copied = 0;
  let depth = 0;
  let isName = false;
  let isRemoved = false;
  for (let index = 0; index < text.length; index += 1) {
    switch (text[index]) {
      case "{":
      case "[":
        depth += 1;
        isName = depth === 1;
        break;
      case "}":
      case "]":
        depth -= 1;
        if (depth > 0 || !isRemoved) break;
        renamed = renamed.replace(/,\s*$/, "");
        copied = index;
        break;
      case ",":
        isName = depth === 1;
        if (!isName || !isRemoved) break;
        copied = startOfName(text, index + 1);
        isRemoved = false;
        break;
      case '"': {
        const end = endOfString(text, index);
        const name = isName ? names.get(JSON.parse(text.slice(index, end))) : undefined;
        if (name !== undefined) {
          renamed += text.slice(copied, index) + (name === null ? "" : JSON.stringify(name));
          copied = end;
          isRemoved = name === null;
        }
        isName = false;
        index = end - 1;
        break;
      }
    }
  }
  return renamed + text.slice(copied);
}

function startOfName(text: string, from: number): number {
  return text.indexOf('"', from);
}

/** The index after the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let end = start + 1;
  while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  return end + 1;
}

// Renames members of a JSON object in its text, which keeps every value as it is written: a parsed number could change.

/**
 * Renames members of the outermost object.
 *
 * @param text a valid JSON object
 * @param names the new names by the old ones
 * @example
 * renameMembers('{"a":{"a":1.0}}', new Map([["a", "b"]])); // '{"b":{"a":1.0}}'
 */
export function renameMembers(text: string, names: ReadonlyMap<string, string>): string {
  if (names.size === 0) return text;
  let renamed = "";
  let copied = 0;
  let depth = 0;
  let isName = false;
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
        break;
      case ",":
        isName = depth === 1;
        break;
      case '"': {
        const end = endOfString(text, index);
        const name = isName ? names.get(JSON.parse(text.slice(index, end))) : undefined;
        if (name !== undefined) {
          renamed += text.slice(copied, index) + JSON.stringify(name);
          copied = end;
        }
        isName = false;
        index = end - 1;
        break;
      }
    }
  }
  return renamed + text.slice(copied);
}

/** The index after the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let end = start + 1;
  while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  return end + 1;
}

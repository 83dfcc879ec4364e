// Files in the text of rows. Rows are stored, and recorded in events, with what describes a file; its address is signed
// for each response.

import type { FileValue } from "../declare/field.ts";
import type { ResourceModel } from "../model/model.ts";
import { partSeparator, rowSeparator } from "./page.ts";
import type { SelectedFileMember, Selection } from "./read.ts";

/** The address of a file by its id. */
export type UrlOfFile = (id: string) => string;

type Row = Record<string, unknown>;

/**
 * Adds the addresses of files to the text of a row, or of a list of rows.
 * @param text as the store or a write returned it for the selection
 */
export function showFiles(selection: Selection, text: string, urlOf: UrlOfFile): string {
  if (!selection.hasFiles || text === "[]" || text === "null") return text;
  const shown = (row: string): string => shownRow(selection, row, urlOf);
  if (!text.startsWith("[")) return shown(text);
  return `[${text.slice(1, -1).split(rowSeparator).map(shown).join(rowSeparator)}]`;
}

/** The same for the user in what a caller reads of itself. */
export function showOwnFiles<M extends { readonly user: Readonly<Row> | null }>(
  { files }: Pick<ResourceModel, "files">,
  me: M,
  urlOf: UrlOfFile,
): M {
  const { user } = me;
  if (!user || files.length === 0) return me;
  const shown = files.flatMap(({ name }) => {
    const stored = user[name] as FileValue | null | undefined;
    return stored ? [[name, shownFile(stored, undefined, urlOf)] as const] : [];
  });
  return { ...me, user: { ...user, ...Object.fromEntries(shown) } };
}

function shownRow({ members, ...selection }: Selection, text: string, urlOf: UrlOfFile): string {
  const parts = members.filter((member) => member.kind === "part");
  if (parts.length === 0) return JSON.stringify(withUrls({ members, ...selection }, JSON.parse(text), urlOf));
  const texts = text.split(partSeparator);
  return parts.map((part, index) => shownRow(part.selection, texts[index]!, urlOf)).join(partSeparator);
}

function withUrls({ members }: Selection, row: Row, urlOf: UrlOfFile): Row {
  for (const member of members) {
    if (member.kind === "part" || !("selection" in member || member.kind === "value")) continue;
    const value = row[member.name];
    if (value === null || value === undefined) continue;
    if (member.kind === "value") {
      if (member.attribute.field.kind !== "file") continue;
      row[member.name] = shownFile(value as FileValue, member.file, urlOf);
    } else if (member.selection.hasFiles) {
      for (const each of [value].flat()) withUrls(member.selection, each as Row, urlOf);
    }
  }
  return row;
}

function shownFile(
  stored: FileValue,
  selected: readonly SelectedFileMember[] | undefined,
  urlOf: UrlOfFile,
): object {
  const whole = { ...stored, url: urlOf(stored.id) };
  if (!selected) return whole;
  return Object.fromEntries(
    selected.map((each) => [each.name, "text" in each ? each.text : whole[each.member]]),
  );
}

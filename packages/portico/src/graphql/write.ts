// Mutations: the same operations of the engine as those of the REST door.

import type { Caller } from "../declare/caller.ts";
import type { ResourceModel } from "../declare/model.ts";
import type { Engine } from "../engine/engine.ts";
import type { Written } from "../engine/writing.ts";
import type { Selection } from "../plan/read.ts";
import type { RootMeaning } from "./meaning.ts";

export type WriteMeaning = Extract<RootMeaning, { kind: "create" | "change" | "remove" | "act" }>;

export function isWrite(meaning: { readonly kind: string } | undefined): meaning is WriteMeaning {
  return meaning !== undefined && ["create", "change", "remove", "act"].includes(meaning.kind);
}

export interface Wrote {
  /** The row as it is now, or was last, as JSON text of the selection. */
  readonly text: string;
  readonly revealed: Readonly<Record<string, unknown>> | undefined;
}

/** Writes a row and reads of it what is selected. */
export async function write(
  engine: Engine,
  caller: Caller,
  meaning: WriteMeaning,
  given: Readonly<Record<string, unknown>>,
  selection: Selection,
): Promise<Wrote> {
  const { kind, resource } = meaning;
  // Arguments were read by their types; those of an input are an object.
  const input = { ...(given.input as Record<string, unknown> | undefined) };
  const id = String(given.id);
  if (meaning.kind === "remove") return remove(engine, caller, resource, id, selection);
  const written = await changed(engine, caller, meaning, id, input);
  // What an action answers with may be less than the row.
  const own = kind === "act" ? undefined : ownText(JSON.parse(written.text), selection);
  const text =
    own ?? (await engine.getWritten(caller, { resource, selection, id: written.id, conditions: [] }));
  return { text, revealed: written.revealed };
}

function changed(
  engine: Engine,
  caller: Caller,
  meaning: Exclude<WriteMeaning, { readonly kind: "remove" }>,
  id: string,
  input: Record<string, unknown>,
): Promise<Written> {
  const { resource } = meaning;
  switch (meaning.kind) {
    case "create":
      return create(engine, caller, resource, input);
    case "change":
      return engine.change(caller, resource, id, input);
    case "act":
      return engine.act(caller, resource, id, meaning.action, input);
  }
}

function create(
  engine: Engine,
  caller: Caller,
  resource: ResourceModel,
  input: Record<string, unknown>,
): Promise<Written> {
  const { [resource.parent?.name ?? ""]: parentId, ...body } = input;
  return engine.create(caller, resource, body, parentId === undefined ? undefined : String(parentId));
}

/** What is gone afterwards is read before; a record that stays is read as it then is. */
async function remove(
  engine: Engine,
  caller: Caller,
  resource: ResourceModel,
  id: string,
  selection: Selection,
): Promise<Wrote> {
  const read = { resource, selection, id, conditions: [] };
  if (resource.removalMark) {
    await engine.remove(caller, resource, id);
    return { text: await engine.getWritten(caller, read), revealed: undefined };
  }
  const text = await engine.getWritten(caller, read);
  await engine.remove(caller, resource, id);
  return { text, revealed: undefined };
}

/** The selection as a part of the whole row; undefined where it shows more than the row itself. */
export function ownText(row: Readonly<Record<string, unknown>>, { members }: Selection): string | undefined {
  const parts: string[] = [];
  for (const member of members) {
    if (member.kind !== "value" && member.kind !== "constant") return undefined;
    const value = member.kind === "value" ? row[member.attribute.name] : member.text;
    parts.push(`${JSON.stringify(member.name)}:${JSON.stringify(value)}`);
  }
  return `{${parts.join(",")}}`;
}

// Mutations: the same operations of the engine as those of REST.

import type { Caller } from "../../declare/caller.ts";
import type { Engine } from "../../engine/engine.ts";
import type { WriteResult } from "../../engine/write-result.ts";
import type { ResourceModel } from "../../model/model.ts";
import type { Selection } from "../../query/read.ts";
import type { RootFieldMapping } from "../schema/field-mapping.ts";

export type WriteFieldMapping = Extract<RootFieldMapping, { kind: "create" | "update" | "delete" | "act" }>;

export function isWrite(mapping: { readonly kind: string } | undefined): mapping is WriteFieldMapping {
  return mapping !== undefined && ["create", "update", "delete", "act"].includes(mapping.kind);
}

export interface MutationResult {
  /** The row as it is now, or was last, as JSON text of the selection. */
  readonly text: string;
  readonly returnedOnce: Readonly<Record<string, unknown>> | undefined;
}

/** Writes a row and reads of it what is selected. */
export async function write(
  engine: Engine,
  caller: Caller,
  mapping: WriteFieldMapping,
  args: Readonly<Record<string, unknown>>,
  selection: Selection,
): Promise<MutationResult> {
  const { kind, resource } = mapping;
  // Arguments were read by their types; those of an input are an object.
  const input = { ...(args.input as Record<string, unknown> | undefined) };
  const id = String(args.id);
  if (mapping.kind === "delete") return deleteRow(engine, caller, resource, id, selection);
  const result = await updateOrAct(engine, caller, mapping, id, input);
  // What an action answers with may be less than the row.
  const own = kind === "act" ? undefined : ownText(result.row, selection);
  const text =
    own ?? (await engine.getAfterWrite(caller, { resource, selection, id: result.id, conditions: [] }));
  return { text, returnedOnce: result.returnedOnce };
}

function updateOrAct(
  engine: Engine,
  caller: Caller,
  mapping: Exclude<WriteFieldMapping, { readonly kind: "delete" }>,
  id: string,
  input: Record<string, unknown>,
): Promise<WriteResult> {
  const { resource } = mapping;
  switch (mapping.kind) {
    case "create":
      return createRow(engine, caller, resource, input);
    case "update":
      return engine.update(caller, resource, id, input);
    case "act":
      return engine.runAction(caller, resource, id, mapping.action, input);
  }
}

function createRow(
  engine: Engine,
  caller: Caller,
  resource: ResourceModel,
  input: Record<string, unknown>,
): Promise<WriteResult> {
  const { [resource.parent?.name ?? ""]: parentId, ...body } = input;
  return engine.create(caller, resource, body, parentId === undefined ? undefined : String(parentId));
}

/** What is gone afterwards is read before; a record that stays is read as it then is. */
async function deleteRow(
  engine: Engine,
  caller: Caller,
  resource: ResourceModel,
  id: string,
  selection: Selection,
): Promise<MutationResult> {
  const read = { resource, selection, id, conditions: [] };
  if (resource.markOnDelete) {
    await engine.delete(caller, resource, id);
    return { text: await engine.getAfterWrite(caller, read), returnedOnce: undefined };
  }
  const text = await engine.getAfterWrite(caller, read);
  await engine.delete(caller, resource, id);
  return { text, returnedOnce: undefined };
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

// Which operations of a resource MCP offers as tools.

import { type LooseDeclaration, operationNames } from "../declare/resource.ts";
import { restorations } from "./soft-deletion.ts";

/** The operations, by name, and the actions, by the last segment of their paths. */
export type OfferedTools = "all" | ReadonlySet<string>;

/** @param isOwn whether the resource is one of the server itself, which are offered only if they say so */
export function offeredTools({ mcp }: Pick<LooseDeclaration, "mcp">, isOwn: boolean): OfferedTools {
  const declared = mcp ?? !isOwn;
  if (typeof declared === "boolean") return declared ? "all" : new Set();
  return new Set(declared);
}

/** @param name of an operation, or of an action */
export function isOffered(tools: OfferedTools, name: string): boolean {
  return tools === "all" || tools.has(name);
}

export function validateToolOptions(
  { mcp, operations = operationNames, actions = {}, softDelete, exposed }: LooseDeclaration,
  refuse: (remedy: string) => never,
): void {
  if (mcp === undefined || typeof mcp === "boolean") return;
  const names: readonly string[] = [
    ...operations,
    ...Object.keys(actions),
    ...(softDelete ? [restorations] : []),
  ];
  if (!Array.isArray(mcp) || !mcp.every((each) => names.includes(each)))
    refuse(`mcp is true, false, or a list of some of ${names.join(", ")}`);
  if (mcp.length > 0 && exposed === false) refuse("it is not exposed, so MCP cannot offer it; remove mcp");
}

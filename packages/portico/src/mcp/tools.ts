// The tools of an API: its operations, as assistants call them. They are derived once.

import { hash } from "node:crypto";
import type { CallToolRequest, Tool as ListedTool } from "@modelcontextprotocol/server";
import type { Caller } from "../declare/caller.ts";
import { snakeCase } from "../lib/case.ts";
import type { Model } from "../model/model.ts";
import { isOffered } from "../model/offered-tools.ts";
import type { ModuleOperation, Operation } from "../model/operations.ts";
import { annotationsOf, describe } from "./tool-descriptions.ts";
import { argumentsOf, type ToolArguments } from "./tool-parameters.ts";
import { answerSchema } from "./tool-schemas.ts";

export type ToolInput = CallToolRequest["params"]["arguments"];

export interface Tool {
  /** `list_posts` */
  readonly name: string;
  readonly operation: Operation | ModuleOperation;
  readonly arguments: ToolArguments;
  /** As `tools/list` shows it. */
  readonly listed: ListedTool;
  /** Of `listed` as JSON. */
  readonly bytes: number;
}

/** Clients accept names of 64 characters. */
const maxNameLength = 64;

/** The tools by their names, in the order of the operations. */
export function toolsOf({ operations }: Pick<Model, "operations">): ReadonlyMap<string, Tool> {
  const tools = new Map<string, Tool>();
  for (const operation of operations) {
    if (!isTool(operation)) continue;
    const name = unusedName(operation.id, tools);
    tools.set(name, toolOf(name, operation));
  }
  return tools;
}

/** Whether a caller has the scope of a tool. Policies decide later about rows. */
export function isAllowed({ scopes, kind }: Caller, { scope, isPublic = false }: Tool["operation"]): boolean {
  if (kind === "anonymous") return isPublic;
  return scope === undefined || scopes.has(scope);
}

function isTool(operation: Operation | ModuleOperation): boolean {
  if (operation.kind === "module") return operation.isTool === true;
  const { kind, resource, action, collectionAction } = operation;
  // Reports are about the server's own resources.
  if (kind === "report") return false;
  const name = (action ?? collectionAction)?.name ?? (kind === "deleteAll" ? "delete" : kind);
  return isOffered(resource.tools, name);
}

function toolOf(name: string, operation: Operation | ModuleOperation): Tool {
  const { output } = operation;
  const toolArguments = argumentsOf(operation);
  const listed = {
    name,
    description: describe(operation),
    inputSchema: toolArguments.schema,
    ...(output && { outputSchema: answerSchema(output) }),
    annotations: annotationsOf(operation),
  } as ListedTool;
  const bytes = Buffer.byteLength(JSON.stringify(listed));
  return Object.freeze({ name, operation, arguments: toolArguments, listed: Object.freeze(listed), bytes });
}

/** `listPosts` -> `list_posts` */
function unusedName(id: string, used: ReadonlyMap<string, unknown>): string {
  const name = snakeCase(id);
  if (name.length <= maxNameLength && !used.has(name)) return name;
  const suffix = `_${hash("sha256", id, "hex").slice(0, 8)}`;
  return name.slice(0, maxNameLength - suffix.length) + suffix;
}

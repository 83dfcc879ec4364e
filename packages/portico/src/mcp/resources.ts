// Rows as resources, which assistants read by URI: `portico://posts/post_01h...` is a row, `portico://posts` the first page
// of its collection.

import type { Resource as ListedResource, ResourceTemplateType } from "@modelcontextprotocol/server";
import type { Caller } from "../declare/caller.ts";
import { capitalize, spaceCase } from "../lib/case.ts";
import type { Operation } from "../model/operations.ts";
import { isAllowed, type Tool, type ToolInput } from "./tools.ts";

const scheme = "portico:/";
const mimeType = "application/json";
const maxUriLength = 1_000;

/** A tool that reads rows, as a resource. */
export interface ReadableRows {
  readonly tool: Tool;
  /** `portico://posts/{id}` */
  readonly uriTemplate: string;
  /** Matches its URIs; the groups are the parameters. */
  readonly pattern: RegExp;
  readonly name: string;
  readonly description: string;
}

export function readableRowsOf(tools: Iterable<Tool>): readonly ReadableRows[] {
  return [...tools].flatMap((tool) => {
    const { operation } = tool;
    return operation.kind === "list" || operation.kind === "get" ? [readableRows(tool, operation)] : [];
  });
}

function readableRows(tool: Tool, { id, path, kind, resource }: Operation): ReadableRows {
  const what = kind === "get" ? `One ${resource.title}.` : `The first page of ${spaceCase(resource.plural)}.`;
  return {
    tool,
    uriTemplate: scheme + path,
    pattern: new RegExp(`^${scheme}${path.replace(/\{(\w+)\}/g, "(?<$1>[^/?#]+)")}$`),
    name: capitalize(spaceCase(id)),
    description: [what, resource.description ?? ""].join(" ").trim(),
  };
}

/** Those without parameters. */
export function listedResources(rows: readonly ReadableRows[], caller: Caller): ListedResource[] {
  return allowed(rows, caller)
    .filter(({ uriTemplate }) => !uriTemplate.includes("{"))
    .map(({ uriTemplate, name, description }) => ({ uri: uriTemplate, name, description, mimeType }));
}

export function listedTemplates(rows: readonly ReadableRows[], caller: Caller): ResourceTemplateType[] {
  return allowed(rows, caller)
    .filter(({ uriTemplate }) => uriTemplate.includes("{"))
    .map(({ uriTemplate, name, description }) => ({ uriTemplate, name, description, mimeType }));
}

function allowed(rows: readonly ReadableRows[], caller: Caller): readonly ReadableRows[] {
  return rows.filter(({ tool }) => isAllowed(caller, tool.operation));
}

/** The tool that reads a URI, and its arguments; undefined if no row has such a URI. */
export function readOf(
  rows: readonly ReadableRows[],
  uri: string,
): { readonly tool: Tool; readonly input: ToolInput } | undefined {
  if (uri.length > maxUriLength) return undefined;
  for (const { tool, pattern } of rows) {
    const match = pattern.exec(uri);
    if (!match) continue;
    try {
      const values = Object.entries(match.groups ?? {}).map(([name, text]) => [
        name,
        decodeURIComponent(text),
      ]);
      return { tool, input: Object.fromEntries(values) };
    } catch {
      // Its percent-encoding is broken.
      return undefined;
    }
  }
  return undefined;
}

// Pages of the list of tools, which takes a megabyte for an API of a hundred resources.

import type { ListToolsResult } from "@modelcontextprotocol/server";
import type { Caller } from "../declare/caller.ts";
import { isAllowed, type Tool } from "./tools.ts";

/** Clients follow the cursor of a page, which is the name of its last tool. */
const maxPageBytes = 256 * 1024;

/** The tools that a caller may use, after those of earlier pages; undefined for a cursor that no page had. */
export function pageOfTools(
  tools: ReadonlyMap<string, Tool>,
  caller: Caller,
  cursor: string | undefined,
): ListToolsResult | undefined {
  if (cursor !== undefined && !tools.has(cursor)) return undefined;
  const all = [...tools.values()];
  const start = cursor === undefined ? 0 : all.findIndex(({ name }) => name === cursor) + 1;
  const page: Tool[] = [];
  let bytes = 0;
  for (const tool of all.slice(start)) {
    if (!isAllowed(caller, tool.operation)) continue;
    bytes += tool.bytes;
    if (bytes > maxPageBytes && page.length > 0)
      return { tools: page.map(({ listed }) => listed), nextCursor: page.at(-1)!.name };
    page.push(tool);
  }
  return { tools: page.map(({ listed }) => listed) };
}

// The tools and rows of an API that MCP offers.

import type { Model } from "../model/model.ts";
import { readableRowsOf } from "./resources.ts";
import type { Offer } from "./sdk-server.ts";
import { toolsOf } from "./tools.ts";

export function offerOf(model: Model): Offer {
  const tools = toolsOf(model);
  return Object.freeze({
    ...{ name: model.name, version: model.version, tools },
    rows: readableRowsOf(tools.values()),
    instructions: instructions(model.name),
  });
}

/** Instructions for assistants about all tools. */
function instructions(name: string): string {
  return [
    `These tools read and write the data of ${name}.`,
    "Ids are strings that begin with the kind of row; get them from lists. Times are UTC, as 2026-01-31T09:30:00.000Z.",
    "Lists are filtered by their arguments; use `fields` and `limit` to keep answers short.",
    "An error has a code, a message that says what to do, and details that name the arguments at fault.",
  ].join("\n");
}

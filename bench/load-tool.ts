// The load tool: wrk if it is installed, otherwise autocannon.

import { spawnSync } from "node:child_process";
import type { LoadTool } from "./load.ts";
import { AutocannonTool } from "./load-autocannon.ts";
import { WrkTool } from "./load-wrk.ts";
import type { Options } from "./options.ts";

/** @param folder for files of the tool */
export function loadTool({ tool, connections }: Options, folder: string): LoadTool {
  const isInstalled = tool !== "autocannon" && spawnSync("wrk", ["--version"]).error === undefined;
  if (isInstalled) return new WrkTool(connections, folder);
  if (tool === "wrk") throw new Error("wrk is not installed; leave --tool out to use autocannon");
  return new AutocannonTool(connections);
}

// Loads the SDK, which takes 9 MB of memory, with the first request. It is an optional peer dependency.

import { Problem } from "../errors.ts";
import type { Report } from "../lib/report.ts";

export type Sdk = typeof import("@modelcontextprotocol/server");

const packageName = "@modelcontextprotocol/server";

/**
 * @param load imports the package
 * @param report logs why it is missing
 * @returns a function that loads the package once. @throws Problem `unavailable` if it is not installed
 */
export function sdkLoader(load: () => Promise<Sdk>, report: Report): () => Promise<Sdk> {
  let loading: Promise<Sdk> | undefined;
  return async () => {
    loading ??= load();
    try {
      return await loading;
    } catch (err) {
      loading = undefined;
      report(`MCP needs the package ${packageName}; install it: npm install ${packageName}`, { err });
      throw new Problem("unavailable", "MCP is not set up on this server.");
    }
  };
}

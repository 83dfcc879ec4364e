// The tool that drives a server: wrk where it is installed, autocannon otherwise.

import { spawnSync } from "node:child_process";
import { AutocannonTool } from "./load-autocannon.ts";
import { WrkTool } from "./load-wrk.ts";
import type { Options } from "./options.ts";

/** Requests that are sent as fast as they are answered, each for one of `paths` at random. */
export interface Load {
  readonly method: "GET" | "POST";
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Driven {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

export interface LoadTool {
  readonly name: string;
  /** @throws Error where an answer is not 2xx or a connection breaks */
  drive(url: string, load: Load, seconds: number): Promise<Driven>;
}

/** @param folder where the tool may put files */
export function loadTool({ tool, connections }: Options, folder: string): LoadTool {
  const isInstalled = tool !== "autocannon" && spawnSync("wrk", ["--version"]).error === undefined;
  if (isInstalled) return new WrkTool(connections, folder);
  if (tool === "wrk") throw new Error("wrk is not installed; leave --tool out to use autocannon");
  return new AutocannonTool(connections);
}

/** What a tool counted, checked. */
export function driven(counted: {
  readonly requests: number;
  readonly seconds: number;
  readonly p99Ms: number;
  readonly refused: number;
  readonly failed: number;
}): Driven {
  const { requests, seconds, p99Ms, refused, failed } = counted;
  if (refused > 0 || failed > 0 || requests === 0) {
    throw new Error(
      `of ${requests} requests, ${refused} were not answered with 2xx and ${failed} met a broken connection or a time-out`,
    );
  }
  return { requests, requestsPerSecond: requests / seconds, p99Ms };
}

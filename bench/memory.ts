// Resident memory of a new process of Portico after increasing numbers of requests.

import { setTimeout } from "node:timers/promises";
import type { Load, LoadTool } from "./load.ts";
import type { PorticoServer } from "./portico-server.ts";

/** Resident memory; undefined if the system does not report it. */
export interface Memory {
  readonly atStartMegabytes: number | undefined;
  /** After increasing numbers of requests. */
  readonly after: readonly { readonly requests: number; readonly megabytes: number | undefined }[];
  /** Some time after the last one, when V8 has collected what they have left. */
  readonly atRestMegabytes: number | undefined;
}

/** V8 collects the old generation of a process that allocates little after 8 to 20 seconds. */
export const restSeconds = 30;

/** A part of the requests. */
export interface LoadShare {
  readonly load: Load;
  /** Of all requests; the shares of all parts are 1. */
  readonly share: number;
}

export interface MemoryPlan {
  readonly parts: readonly LoadShare[];
  /** When to measure. The second measurement shows whether memory grows. */
  readonly requests: readonly number[];
  readonly maxMinutes: number;
  /** How long one load is sent before the next. */
  readonly seconds: number;
}

export async function measureMemory(
  start: () => Promise<PorticoServer>,
  { parts, requests, maxMinutes, seconds }: MemoryPlan,
  tool: LoadTool,
): Promise<Memory> {
  const server = await start();
  try {
    const atStartMegabytes = server.memoryMegabytes;
    const until = performance.now() + maxMinutes * 60_000;
    const after: { requests: number; megabytes: number | undefined }[] = [];
    const sent = new Map(parts.map((part) => [part, 0]));
    const total = (): number => [...sent.values()].reduce((sum, count) => sum + count, 0);
    for (const count of requests) {
      while (total() < count && performance.now() < until) {
        // The part that is furthest behind its share.
        const [next] = parts.toSorted(
          (one, other) => sent.get(one)! / one.share - sent.get(other)! / other.share,
        );
        const result = await tool.run(server.url, next!.load, seconds);
        sent.set(next!, sent.get(next!)! + result.requests);
      }
      after.push({ requests: total(), megabytes: server.memoryMegabytes });
    }
    await setTimeout(restSeconds * 1000);
    return { atStartMegabytes, after, atRestMegabytes: server.memoryMegabytes };
  } finally {
    await server.stop();
  }
}

// Drives a server with autocannon, from within the bench's own process.

import autocannon from "autocannon";
import { type Driven, driven, type Load, type LoadTool } from "./load.ts";

/** Requests that a connection makes ready before the clock starts, and repeats. */
const mostReady = 500;

export class AutocannonTool implements LoadTool {
  readonly name = "autocannon";
  readonly #connections: number;

  constructor(connections: number) {
    this.#connections = connections;
  }

  async drive(url: string, load: Load, seconds: number): Promise<Driven> {
    const { method, paths, headers, body } = load;
    const result = await autocannon({
      url,
      method,
      headers: { ...headers },
      ...(body !== "" && { body }),
      connections: this.#connections,
      duration: seconds,
      timeout: 10,
      setupClient: (client) => {
        const ready = Array.from({ length: Math.min(paths.length, mostReady) }, () => ({
          path: paths[Math.floor(Math.random() * paths.length)]!,
        }));
        client.setRequests(ready);
      },
    });
    const counted = {
      requests: result["2xx"] + result.non2xx,
      seconds: result.duration,
      p99Ms: result.latency.p99,
      refused: result.non2xx,
      failed: result.errors,
    };
    return driven(counted, load);
  }
}

// Sends requests with autocannon, in the process of the bench.

import autocannon from "autocannon";
import { checkedResult, type Load, type LoadResult, type LoadTool } from "./load.ts";

/** Requests that a connection prepares, and repeats. It does so in the time of the measurement: 500 take a fifth of it. */
const maxRequests = 50;

export class AutocannonTool implements LoadTool {
  readonly name = "autocannon";
  readonly #connections: number;

  constructor(connections: number) {
    this.#connections = connections;
  }

  async run(url: string, load: Load, seconds: number): Promise<LoadResult> {
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
        const requests = Array.from({ length: Math.min(paths.length, maxRequests) }, () => ({
          path: paths[Math.floor(Math.random() * paths.length)]!,
        }));
        client.setRequests(requests);
      },
    });
    const counted = {
      requests: result["2xx"] + result.non2xx,
      seconds: result.duration,
      p99Ms: result.latency.p99,
      refused: result.non2xx,
      failed: result.errors,
    };
    return checkedResult(counted, load);
  }
}

// Sends requests with wrk and the script requests.lua.

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runChild } from "./child.ts";
import { checkedResult, type Load, type LoadResult, type LoadTool } from "./load.ts";

const script = join(import.meta.dirname, "requests.lua");

export class WrkTool implements LoadTool {
  readonly name = "wrk";
  readonly #connections: number;
  readonly #folder: string;
  readonly #files = new Map<readonly string[], string>();

  constructor(connections: number, folder: string) {
    this.#connections = connections;
    this.#folder = folder;
  }

  async run(url: string, load: Load, seconds: number): Promise<LoadResult> {
    const { method, paths, headers, body } = load;
    const options = ["--threads", "1", "--connections", String(this.#connections)];
    const sent = Object.entries(headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`]);
    const output = await runChild(
      "wrk",
      [
        ...options,
        ...["--duration", `${seconds}s`, "--timeout", "10s", "--script", script],
        ...sent,
        ...[url, "--", method, this.#fileOf(paths), body],
      ],
      { timeoutMs: (seconds + 30) * 1000 },
    );
    return checkedResult(JSON.parse(output.trimEnd().split("\n").at(-1)!), load);
  }

  #fileOf(paths: readonly string[]): string {
    const known = this.#files.get(paths);
    if (known !== undefined && existsSync(known)) return known;
    const file = join(this.#folder, `paths-${this.#files.size}.txt`);
    writeFileSync(file, `${paths.join("\n")}\n`);
    this.#files.set(paths, file);
    return file;
  }
}

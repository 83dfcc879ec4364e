// Measures webhooks: how many deliveries a process sends in a second, and what three endpoints cost creates. On a database of
// its own, as `npm run bench` does, or alone:
//
//   node bench/webhooks.ts [--only postgres] [--rounds 7]

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ChildServer, runChild, startServer, stopChild } from "./child.ts";
import type { Report } from "./comparison.ts";
import type { Filled } from "./fill.ts";
import { keyHeader, type LoadTool } from "./load.ts";
import { loadTool } from "./load-tool.ts";
import { median } from "./median.ts";
import { type DatabaseName, type Options, readOptions } from "./options.ts";
import { environmentFor, PorticoServer } from "./portico-server.ts";
import { createRow } from "./rows.ts";
import { webhookLines } from "./table.ts";
import { createWorkspace } from "./workspace.ts";

/** Medians of all rounds. */
export interface MeasuredWebhooks {
  readonly createsPerSecond: number;
  /** Creates while three endpoints get their events, as a share of creates without endpoints. */
  readonly ofCreatesPercent: number;
  /** Deliveries to one endpoint, of events that were waiting, while there are no requests. */
  readonly deliveriesPerSecond: number;
}

const program = join(import.meta.dirname, "webhook-receiver.ts");
const sampleMs = 100;
const maxDrainMs = 60_000;

/** @param tool its folder must exist */
export async function measureWebhooks(
  database: DatabaseName,
  tool: LoadTool,
  { rounds, seconds }: Pick<Options, "rounds" | "seconds">,
  report: Report,
): Promise<MeasuredWebhooks> {
  const workspace = await createWorkspace(database);
  try {
    const fill = [join(import.meta.dirname, "fill.ts"), "1000"];
    const env = environmentFor(workspace.databaseUrl);
    const output = await runChild(process.execPath, fill, { env, timeoutMs: 60_000 });
    const filled: Filled = JSON.parse(output);
    const receiver = await startServer(program);
    const headers = keyHeader(filled.key);
    const settings = { PORTICO_WEBHOOK_PRIVATE: "true" };
    const portico = await PorticoServer.start(
      workspace.databaseUrl,
      `/posts/${filled.ids[0]}`,
      headers,
      settings,
    );
    try {
      const bench = new WebhookBench(portico.url, filled, receiver, tool, seconds);
      await bench.creates();
      const [without, share, deliveries]: [number[], number[], number[]] = [[], [], []];
      for (let round = 1; round <= rounds; round += 1) {
        report(`webhooks: round ${round} of ${rounds}`);
        without.push(await bench.creates());
        share.push((100 * (await bench.createsWithEndpoints(3))) / without.at(-1)!);
        deliveries.push(await bench.deliveries());
      }
      const [createsPerSecond, ofCreatesPercent, deliveriesPerSecond] = [without, share, deliveries].map(
        median,
      );
      return {
        createsPerSecond: createsPerSecond!,
        ofCreatesPercent: ofCreatesPercent!,
        deliveriesPerSecond: deliveriesPerSecond!,
      };
    } finally {
      await portico.stop();
      await stopChild(receiver.child);
    }
  } finally {
    await workspace.remove();
  }
}

class WebhookBench {
  readonly #url: string;
  readonly #filled: Filled;
  readonly #receiver: ChildServer;
  readonly #tool: LoadTool;
  readonly #seconds: number;

  constructor(url: string, filled: Filled, receiver: ChildServer, tool: LoadTool, seconds: number) {
    this.#url = url;
    this.#filled = filled;
    this.#receiver = receiver;
    this.#tool = tool;
    this.#seconds = seconds;
  }

  /** Creates a second. */
  async creates(): Promise<number> {
    const { load } = createRow(this.#filled);
    return (await this.#tool.run(this.#url, load, this.#seconds)).requestsPerSecond;
  }

  async createsWithEndpoints(count: number): Promise<number> {
    const ids: string[] = [];
    while (ids.length < count) ids.push(await this.#makeEndpoint());
    try {
      return await this.creates();
    } finally {
      await this.#deleteEndpoints(ids);
    }
  }

  /** Deliveries a second of the events of some seconds of creates, after the last of these. */
  async deliveries(): Promise<number> {
    const id = await this.#makeEndpoint();
    try {
      await this.creates();
      const [first, started] = [await this.#received(), performance.now()];
      let [last, ended] = [first, started];
      for (const until = started + maxDrainMs; performance.now() < until; ) {
        await sleep(sampleMs);
        const count = await this.#received();
        // The first can take seconds: the events of all creates before are passed over.
        if (count === last && last > first && performance.now() - ended > 10 * sampleMs) break;
        if (count > last) [last, ended] = [count, performance.now()];
      }
      return last > first ? ((last - first) * 1_000) / (ended - started) : 0;
    } finally {
      await this.#deleteEndpoints([id]);
    }
  }

  async #makeEndpoint(): Promise<string> {
    const { url } = this.#receiver;
    const body = { url, eventTypes: ["post.*"] };
    return (await this.#request("POST", "/v1/webhook-endpoints", body)).id;
  }

  /** Deletes endpoints, and waits until the server has given up their deliveries. */
  async #deleteEndpoints(ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.#request("DELETE", `/v1/webhook-endpoints/${id}`);
    while ((await this.#request("GET", "/v1/webhook-deliveries?status=pending&limit=1")).data.length > 0)
      await sleep(sampleMs);
  }

  async #received(): Promise<number> {
    return Number(await (await fetch(this.#receiver.url)).text());
  }

  // biome-ignore lint/suspicious/noExplicitAny: the bench reads any member of a response.
  async #request(method: string, path: string, body?: object): Promise<any> {
    const headers = { ...keyHeader(this.#filled.key), "content-type": "application/json" };
    const response = await fetch(this.#url + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}`);
    return response.status === 204 ? undefined : response.json();
  }
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (!options) return;
  const folder = mkdtempSync(join(tmpdir(), "portico-bench-"));
  try {
    const report = (line: string): boolean => process.stderr.write(`${line}\n`);
    const measured = await measureWebhooks(
      options.only ?? "sqlite",
      loadTool(options, folder),
      options,
      report,
    );
    process.stdout.write(`${webhookLines(measured).join("\n")}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) await main();

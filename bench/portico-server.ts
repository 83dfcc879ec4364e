// Starts `portico serve` as an operator would: live mode, default settings except for quotas, its log written to /dev/null.

import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { delimiter, dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startChild, stopChild } from "./child.ts";

export const projectFolder = resolve(import.meta.dirname, "..");
const program = join(projectFolder, "packages/portico/bin/portico.js");
const startTimeoutMs = 30_000;
const pollIntervalMs = 2;

/** The environment of Portico's processes. Settings in the shell that started the bench have no effect. */
export function environmentFor(databaseUrl: string): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return {
    // The program's first line runs `node`: the one that runs the bench.
    PATH: [dirname(process.execPath), PATH].join(delimiter),
    HOME,
    NODE_ENV: "production",
    PORTICO_MODE: "live",
    PORTICO_SECRET: "a secret that is only good for measuring",
    LOG_LEVEL: "info",
    // All requests come from one address, whose failures must not be refused.
    PORTICO_FAILED_AUTH_QUOTA: "100000000/60",
    // As the key of fill.ts; a client has no quota of its own.
    PORTICO_KEY_QUOTA: "100000000/60",
    DATABASE_URL: databaseUrl,
  };
}

export class PorticoServer {
  readonly url: string;
  /** Time from the start of the process to its first response with 200. */
  readonly startUpMs: number;
  readonly #child: ChildProcess;

  private constructor(url: string, startUpMs: number, child: ChildProcess) {
    this.url = url;
    this.startUpMs = startUpMs;
    this.#child = child;
  }

  /**
   * @param path requested until the response is 200
   * @param settings in addition to the default ones
   * @param folder of the project
   */
  static async start(
    databaseUrl: string,
    path: string,
    headers: Record<string, string>,
    settings: NodeJS.ProcessEnv = {},
    folder = projectFolder,
  ): Promise<PorticoServer> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const env = {
      ...environmentFor(databaseUrl),
      PORT: String(port),
      // `--cpu-prof --cpu-prof-dir=...` writes a CPU profile.
      NODE_OPTIONS: process.env.BENCH_NODE_OPTIONS,
      ...settings,
    };
    const started = performance.now();
    const child = startChild(program, ["serve"], {
      cwd: folder,
      env,
      stdio: ["ignore", "ignore", "inherit"],
    });
    while (
      performance.now() - started < startTimeoutMs &&
      child.exitCode === null &&
      child.signalCode === null
    ) {
      if ((await statusOf(url + path, headers)) === 200) {
        return new PorticoServer(url, performance.now() - started, child);
      }
      await sleep(pollIntervalMs);
    }
    await stopChild(child);
    throw new Error("portico serve did not start");
  }

  /** Resident memory; undefined if the system does not report it. */
  get memoryMegabytes(): number | undefined {
    const file = `/proc/${this.#child.pid}/status`;
    const kilobytes = existsSync(file) && /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(file, "utf8"))?.[1];
    return kilobytes ? Number(kilobytes) / 1024 : undefined;
  }

  /** CPU time of the process in seconds; undefined if the system does not report it. */
  get processorSeconds(): number | undefined {
    const file = `/proc/${this.#child.pid}/stat`;
    // The 14th and 15th field, in hundredths of a second; the 2nd is in parentheses.
    const fields = existsSync(file) ? readFileSync(file, "utf8").split(") ")[1]!.split(" ") : undefined;
    return fields && (Number(fields[11]) + Number(fields[12])) / 100;
  }

  async stop(): Promise<void> {
    await stopChild(this.#child);
  }
}

/** The status of a response; undefined if there is none. */
function statusOf(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((answered) => {
    request(url, { headers, agent: false, timeout: 5_000 }, (response) => {
      response.resume();
      response.once("end", () => answered(response.statusCode));
      response.once("error", () => answered(undefined));
    })
      .once("error", () => answered(undefined))
      .once("timeout", () => answered(undefined))
      .end();
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() =>
        address && typeof address === "object" ? resolve(address.port) : reject(new Error("no port")),
      );
    });
  });
}

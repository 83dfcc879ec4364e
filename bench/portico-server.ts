// Starts `portico serve` as an operator would: live mode, its default settings but for quotas, its log written (and thrown away).

import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { delimiter, dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startChild, stopChild } from "./child.ts";

export const projectFolder = resolve(import.meta.dirname, "..");
const program = join(projectFolder, "packages/portico/bin/portico.js");
const patienceMs = 30_000;
const betweenTriesMs = 2;

/** What a process of Portico's is given to know: nothing of the shell that the bench was started from. */
export function environmentFor(databaseUrl: string): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return {
    // The program's first line asks for `node`; it gets the one that runs the bench.
    PATH: [dirname(process.execPath), PATH].join(delimiter),
    HOME,
    NODE_ENV: "production",
    PORTICO_MODE: "live",
    PORTICO_SECRET: "a secret that is only good for measuring",
    LOG_LEVEL: "info",
    // Failures are counted for the one address that all of them come from, and never too many.
    PORTICO_FAILED_AUTH_QUOTA: "100000000/60",
    // What fill.ts gives its key; a client has no quota of its own.
    PORTICO_KEY_QUOTA: "100000000/60",
    DATABASE_URL: databaseUrl,
  };
}

export class PorticoServer {
  readonly url: string;
  /** From the start of the process to its first answer with 200. */
  readonly startUpMs: number;
  readonly #child: ChildProcess;

  private constructor(url: string, startUpMs: number, child: ChildProcess) {
    this.url = url;
    this.startUpMs = startUpMs;
    this.#child = child;
  }

  /**
   * @param path what is asked for until it is answered with 200
   * @param settings beside the default ones
   */
  static async start(
    databaseUrl: string,
    path: string,
    headers: Record<string, string>,
    settings: NodeJS.ProcessEnv = {},
  ): Promise<PorticoServer> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const env = {
      ...environmentFor(databaseUrl),
      PORT: String(port),
      // `--cpu-prof --cpu-prof-dir=...` shows where the time goes.
      NODE_OPTIONS: process.env.BENCH_NODE_OPTIONS,
      ...settings,
    };
    const started = performance.now();
    const child = startChild(program, ["serve"], {
      cwd: projectFolder,
      env,
      stdio: ["ignore", "ignore", "inherit"],
    });
    while (performance.now() - started < patienceMs && child.exitCode === null && child.signalCode === null) {
      if ((await statusOf(url + path, headers)) === 200) {
        return new PorticoServer(url, performance.now() - started, child);
      }
      await sleep(betweenTriesMs);
    }
    await stopChild(child);
    throw new Error("portico serve did not start");
  }

  /** Resident memory, where the system tells. */
  get memoryMegabytes(): number | undefined {
    const file = `/proc/${this.#child.pid}/status`;
    const kilobytes = existsSync(file) && /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(file, "utf8"))?.[1];
    return kilobytes ? Number(kilobytes) / 1024 : undefined;
  }

  /** Seconds of a processor's time that the process has used, where the system tells. */
  get processorSeconds(): number | undefined {
    const file = `/proc/${this.#child.pid}/stat`;
    // The 14th and 15th field, in hundredths of a second; the 2nd stands in brackets.
    const fields = existsSync(file) ? readFileSync(file, "utf8").split(") ")[1]!.split(" ") : undefined;
    return fields && (Number(fields[11]) + Number(fields[12])) / 100;
  }

  async stop(): Promise<void> {
    await stopChild(this.#child);
  }
}

/** The status of an answer; undefined where nothing answers. */
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
  return new Promise((found, failed) => {
    const probe = createServer();
    probe.once("error", failed);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() =>
        address && typeof address === "object" ? found(address.port) : failed(new Error("no port")),
      );
    });
  });
}

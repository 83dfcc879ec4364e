// A project in a folder of its own, which `portico dev` serves.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { program, projectFolder, type Workspace } from "./server.ts";

const timeoutMs = 60_000;

/** What `portico dev --json` prints. */
export interface DevelopmentEvent {
  readonly event?: "restarted" | "faulty" | "ended";
  readonly url?: string;
  readonly key?: string;
  readonly changed?: readonly string[];
  readonly changes?: readonly string[];
  readonly message?: string;
  readonly isServed?: boolean;
  readonly isRestarting?: boolean;
}

/** Files of a project with the packages of this repository. */
export class Project {
  readonly folder: string;

  constructor({ folder: workspace }: Workspace, files: Readonly<Record<string, string>>) {
    this.folder = join(workspace, "project");
    mkdirSync(join(this.folder, "node_modules"), { recursive: true });
    symlinkSync(resolve(projectFolder, "packages/portico"), join(this.folder, "node_modules/portico"));
    this.write("package.json", '{ "type": "module" }');
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  read(name: string): string {
    return readFileSync(join(this.folder, name), "utf8");
  }

  write(name: string, text: string): void {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  /** Replaces a file by another one, as many editors do. */
  replace(name: string, text: string): void {
    this.write(`${name}.saved`, text);
    renameSync(join(this.folder, `${name}.saved`), join(this.folder, name));
  }

  edit(name: string, before: string, after: string): void {
    const text = this.read(name);
    if (!text.includes(before)) throw new Error(`${name} does not contain ${before}`);
    this.write(name, text.replace(before, after));
  }

  remove(name: string): void {
    rmSync(join(this.folder, name));
  }
}

export class DevelopmentProcess {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #events: DevelopmentEvent[] = [];
  #output = "";
  #taken = 0;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.url = `http://127.0.0.1:${port}`;
    child.stderr!.on("data", (chunk) => {
      this.#output += chunk;
    });
    createInterface(child.stdout!).on("line", (line) => {
      this.#output += `${line}\n`;
      if (/^\{"(?:event|url)":/.test(line)) this.#events.push(JSON.parse(line));
    });
  }

  static async start(
    { databaseUrl }: Workspace,
    { folder }: Project,
    words: readonly string[] = ["--json"],
  ): Promise<DevelopmentProcess> {
    const port = await freePort();
    const { PATH = "", HOME = "" } = process.env;
    const path = [dirname(process.execPath), PATH].join(delimiter);
    const settings = { DATABASE_URL: databaseUrl, PORTICO_KEY_QUOTA: "10000000/60", LOG_LEVEL: "warn" };
    const child = spawn(program, ["dev", ...words], {
      cwd: folder,
      env: { PATH: path, HOME, PORT: String(port), ...settings },
      stdio: ["ignore", "pipe", "pipe"],
    });
    return new DevelopmentProcess(child, port);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Everything that it and its processes have printed. */
  get output(): string {
    return this.#output;
  }

  /** The processes that it has started and that are running. */
  get children(): readonly number[] {
    return readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, "utf8").trim().split(" ").map(Number);
  }

  /** Waits for the next event that was not returned yet. */
  async next(): Promise<DevelopmentEvent> {
    for (const until = Date.now() + timeoutMs; Date.now() < until; await sleep(10)) {
      const event = this.#events[this.#taken];
      if (event) {
        this.#taken += 1;
        return event;
      }
      if (this.#child.exitCode !== null) break;
    }
    throw new Error(`no further event:\n${this.#output}`);
  }

  /** Sends a signal and waits for the end. @returns the exit code */
  async stop(signal: NodeJS.Signals): Promise<number | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return this.#child.exitCode;
    const closed = once(this.#child, "exit");
    this.#child.kill(signal);
    const [code] = await closed;
    return code;
  }
}

/** A request with a key. */
export async function send(
  { url }: DevelopmentProcess,
  key: string,
  path: string,
  body?: object,
  // biome-ignore lint/suspicious/noExplicitAny: tests read any member; a missing one makes them fail.
): Promise<{ readonly status: number; readonly body: any }> {
  const response = await fetch(url + path, {
    method: body ? "POST" : "GET",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text && JSON.parse(text) };
}

/** Waits until none of the processes is running. */
export async function allEnded(pids: readonly number[]): Promise<void> {
  for (const until = Date.now() + timeoutMs; Date.now() < until; await sleep(10))
    if (!pids.some(isRunning)) return;
  throw new Error(`still running: ${pids.filter(isRunning)}`);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

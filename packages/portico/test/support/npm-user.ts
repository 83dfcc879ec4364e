// Somebody who uses npm on this machine: with an empty home, an empty cache, and a registry of their own.

import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, sep } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export interface Finished {
  readonly code: number | null;
  /** What it printed on both outputs. */
  readonly output: string;
}

export class NpmUser {
  /** Where projects are; empty at first. */
  readonly folder: string;
  readonly #home: string;
  readonly #environment: Readonly<Record<string, string>>;

  constructor(registry: string) {
    this.#home = mkdtempSync(join(tmpdir(), "portico-npm-"));
    this.folder = join(this.#home, "projects");
    mkdirSync(this.folder);
    // The programs of this repository are not found; the Node of the machine is.
    const path = (process.env.PATH ?? "")
      .split(delimiter)
      .filter((each) => !each.includes(`node_modules${sep}`));
    this.#environment = {
      PATH: path.join(delimiter),
      HOME: this.#home,
      TMPDIR: tmpdir(),
      // Any port that is free.
      PORT: "0",
      npm_config_registry: registry,
      npm_config_cache: join(this.#home, "cache"),
      npm_config_audit: "false",
      npm_config_fund: "false",
      npm_config_update_notifier: "false",
    };
  }

  /** Runs a program, such as `npm install`, until it ends. @param within the folder, relative to `folder` */
  async run(within: string, file: string, ...words: readonly string[]): Promise<Finished> {
    const running = this.start(within, file, ...words);
    const [code] = await once(running.child, "close");
    return { code, output: running.output };
  }

  /** Starts a program that runs until `stop`. */
  start(within: string, file: string, ...words: readonly string[]): Running {
    return new Running(file, words, { cwd: join(this.folder, within), env: this.#environment });
  }

  remove(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }
}

/** A program that runs, with the programs that it started. */
export class Running {
  readonly child: ChildProcess;
  output = "";

  constructor(file: string, words: readonly string[], options: SpawnOptions) {
    // The leader of a group, which is stopped as a whole: npm starts a shell, which starts the server.
    this.child = spawn(file, words, { ...options, stdio: ["ignore", "pipe", "pipe"], detached: true });
    this.child.stdout?.on("data", (chunk) => (this.output += chunk));
    this.child.stderr?.on("data", (chunk) => (this.output += chunk));
  }

  /** Waits until it has printed what the pattern matches. @throws Error if it ends before, or takes a minute */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (const until = Date.now() + 60_000; Date.now() < until; await sleep(20)) {
      const found = pattern.exec(this.output);
      if (found) return found;
      if (this.child.exitCode !== null) break;
    }
    throw new Error(`${pattern} was not printed:\n${this.output}`);
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const closed = once(this.child, "close");
    process.kill(-this.child.pid!, "SIGTERM");
    await closed;
  }
}

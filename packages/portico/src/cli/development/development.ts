// `portico dev`: one process serves, another is ready to load the next version of the declarations. A version that can be
// served takes over the connections; otherwise the one before continues.

import type { Socket } from "node:net";
import { join } from "node:path";
import { configFile } from "../../runtime/config.ts";
import { environmentFile } from "../environment-file.ts";
import { operatorMessage } from "../operator-message.ts";
import { ChildServer, codeText, type ProjectProcess } from "./child-server.ts";
import type { DeclaredParts } from "./declared-parts.ts";
import { hashOfFile } from "./file-hash.ts";
import { FileWatcher } from "./file-watcher.ts";
import type { Faulty, FileHashes, Serving } from "./messages.ts";
import type { ProgressOutput } from "./progress-output.ts";
import { SharedPort } from "./shared-port.ts";

/** Connections that wait while the first version starts, or another one after a crash. */
const maxWaiting = 1_000;
/** A version that was started again and ends sooner is not started a second time before a change. */
const minAgeMs = 1_000;
/** How long declarations may take to load, once they have changed again. */
const maxLoadMs = 2_000;
/** Longer than a server waits for requests in progress. */
const stopMs = 15_000;

export class Development {
  readonly #project: ProjectProcess;
  readonly #output: ProgressOutput;
  readonly #port = new SharedPort((connection) => this.#pass(connection));
  readonly #watcher = new FileWatcher((files) => this.#onChange(files));
  readonly #processes = new Set<ChildServer>();
  #current: ChildServer | undefined;
  #standby: ChildServer | undefined;
  /** The process that loads the declarations now. */
  #loading: ChildServer | undefined;
  /** The files that changed while declarations were loading for so long that their process was killed. */
  #newer: readonly string[] | undefined;
  #waiting: Socket[] = [];
  #fault: Faulty | undefined;
  #parts: DeclaredParts | undefined;
  /** The files of the version that is served, or of the declarations before the first one is. */
  #files: readonly string[];
  #nextChange = Promise.withResolvers<readonly string[]>();
  /** Whether the version that is served was started again after it had ended unexpectedly. */
  #isAfterCrash = false;
  #isStopping = false;

  constructor(project: ProjectProcess, output: ProgressOutput) {
    this.#project = project;
    this.#output = output;
    this.#files = [configFile, environmentFile].map((name) => join(project.folder, name));
  }

  /**
   * Serves the declarations, or waits until they can be served.
   * @throws OperatorError if the port is in use
   */
  async start(): Promise<void> {
    this.#watcher.watch(currentHashes(this.#files));
    try {
      await this.#loadVersion([]);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Restarts after each change until it is stopped. */
  async restartOnChanges(): Promise<void> {
    for (;;) {
      const files = await this.#nextChange.promise;
      if (this.#isStopping) return;
      try {
        await this.#loadVersion(files);
      } catch (error) {
        // Such as a port that is taken.
        this.#keep(files, { kind: "faulty", message: operatorMessage(error), files: {} });
      }
      // What has changed meanwhile is reported again.
      this.#nextChange = Promise.withResolvers();
      this.#watcher.check();
    }
  }

  /** Loads the declarations again, whether or not a file has changed. */
  restart(): void {
    this.#nextChange.resolve([]);
  }

  /** Waits for the requests in progress. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#nextChange.resolve([]);
    this.#watcher.close();
    this.#port.close();
    for (const connection of this.#waiting) connection.destroy();
    // Code that never ends would not hear of it.
    if (this.#loading?.loadingMs) this.#loading.kill();
    // handled: it never rejects.
    for (const each of this.#processes) void each.close();
    const timeout = setTimeout(() => this.kill(), stopMs);
    await Promise.all([...this.#processes].map(({ ended }) => ended));
    clearTimeout(timeout);
  }

  kill(): void {
    for (const each of this.#processes) each.kill();
  }

  async #loadVersion(changed: readonly string[]): Promise<void> {
    const process = this.#standby ?? this.#startProcess(false);
    this.#standby = undefined;
    this.#loading = process;
    this.#watcher.watchFromNow();
    const began = performance.now();
    try {
      const outcome = await process.load(
        this.#parts,
        (host, port) => this.#port.listen(host, port),
        (path, hash) => this.#watcher.add(path, hash),
      );
      if (this.#isStopping) return;
      if (outcome.kind === "faulty") {
        if (!this.#newer) this.#keep(changed, outcome);
      } else await this.#replace(process, changed, outcome, began);
    } finally {
      this.#loading = undefined;
      // handled: it never rejects.
      if (this.#current !== process) void process.close();
      if (!this.#isStopping) this.#standby = this.#startProcess(true);
    }
    const newer = this.#newer;
    this.#newer = undefined;
    if (newer) await this.#loadVersion(newer);
  }

  /** @param began when loading began, in milliseconds of `performance.now()` */
  async #replace(
    process: ChildServer,
    changed: readonly string[],
    outcome: Serving,
    began: number,
  ): Promise<void> {
    const isFirst = this.#parts === undefined;
    const before = this.#current;
    this.#current = process;
    this.#fault = undefined;
    this.#passWaiting();
    // Once the restart is reported, every response is from the new version.
    await before?.close();
    this.#parts = outcome.parts;
    this.#files = Object.keys(outcome.files);
    this.#watcher.watch(outcome.files);
    if (isFirst) this.#output.started(outcome, this.#watcher.count);
    else this.#output.restarted(changed, outcome, performance.now() - began);
  }

  /** Keeps the version that is served. Its files are watched too: the faulty version may not have loaded all of them. */
  #keep(changed: readonly string[], fault: Faulty): void {
    this.#fault = fault;
    this.#passWaiting();
    this.#watcher.watch({ ...currentHashes(this.#files), ...fault.files }, { reportsSaves: true });
    this.#output.faulty(changed, fault, this.#current !== undefined);
  }

  #startProcess(isStandby: boolean): ChildServer {
    const process = new ChildServer(this.#project, isStandby);
    this.#processes.add(process);
    // handled: it never rejects.
    void process.ended.then((code) => this.#onEnd(process, code));
    return process;
  }

  #onEnd(process: ChildServer, code: number | string): void {
    this.#processes.delete(process);
    if (this.#standby === process) this.#standby = undefined;
    if (this.#isStopping) return;
    if (this.#current === process) {
      this.#current = undefined;
      const isRestarting = !this.#isAfterCrash || process.age >= minAgeMs;
      this.#isAfterCrash = true;
      this.#output.ended(codeText(code), isRestarting);
      if (isRestarting) this.restart();
      else this.#fault = { kind: "faulty", message: `the server ended with ${codeText(code)}`, files: {} };
    }
    for (const connection of process.unsent) this.#pass(connection);
  }

  #onChange(files: readonly string[]): void {
    const process = this.#loading;
    if (!process) {
      this.#isAfterCrash = false;
      return void this.#nextChange.resolve(files);
    }
    // Declarations that never finish loading must not hold up the next version, so the watcher checks again.
    if (process.loadingMs > maxLoadMs) {
      this.#newer = files;
      process.kill();
    } else setTimeout(() => this.#watcher.check(), maxLoadMs).unref();
  }

  #pass(connection: Socket): void {
    if (this.#current) return void this.#current.accept(connection);
    if (this.#fault && !this.#loading) return void this.#port.refuse(connection, this.#fault.message);
    if (this.#waiting.length >= maxWaiting) return void connection.destroy();
    this.#waiting.push(connection);
  }

  #passWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const connection of waiting) {
      if (this.#current) this.#current.accept(connection);
      else this.#port.refuse(connection, this.#fault?.message ?? "");
    }
  }
}

function currentHashes(paths: readonly string[]): FileHashes {
  return Object.fromEntries(paths.map((path) => [path, hashOfFile(path)]));
}

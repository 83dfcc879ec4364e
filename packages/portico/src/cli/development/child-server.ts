// A process that serves one version of the declarations, as `portico dev` sees it.

import { type ChildProcess, fork } from "node:child_process";
import type { Socket } from "node:net";
import { compileCache } from "../../store/sqlite/compile-cache.ts";
import type { DeclaredParts } from "./declared-parts.ts";
import type { Faulty, Instruction, Report, Serving } from "./messages.ts";

const program = new URL("./server-process.ts", import.meta.url);

/** Listens on the configured host and port. @returns the port on which connections arrive */
export type Listen = (host: string, port: number) => Promise<number>;

export interface ProjectProcess {
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
}

export class ChildServer {
  readonly #child: ChildProcess;
  /** Connections that may not have reached the process. */
  readonly #sent = new Set<Socket>();
  readonly #ended = Promise.withResolvers<number | string>();
  readonly #files: Record<string, string | undefined> = {};
  #loadingSince: number | undefined;
  #servesSince: number | undefined;

  /** @param isStandby whether it prepares itself for declarations that it is to load later */
  constructor({ folder, environment }: ProjectProcess, isStandby: boolean) {
    // `node --watch` asks its process for messages of its own.
    const env = { ...environment, ...compileCache().env, WATCH_REPORT_DEPENDENCIES: undefined };
    // Unlike JSON, the advanced form keeps members that are undefined: files that do not exist.
    const options = { cwd: folder, env, serialization: "advanced" } as const;
    this.#child = fork(program, isStandby ? ["standby"] : [], options);
    this.#child.once("exit", (code, signal) => this.#ended.resolve(signal ?? code ?? 1));
    this.#child.once("error", () => this.#ended.resolve(1));
  }

  /** When the process ends: its exit code or signal. */
  get ended(): Promise<number | string> {
    return this.#ended.promise;
  }

  /** How long the code of the declarations has been loading, in milliseconds; 0 if it is not. */
  get loadingMs(): number {
    return this.#loadingSince === undefined ? 0 : performance.now() - this.#loadingSince;
  }

  /** How long it has served, in milliseconds. */
  get age(): number {
    return this.#servesSince === undefined ? 0 : performance.now() - this.#servesSince;
  }

  /**
   * Loads the declarations and starts to serve them.
   * @param previous what was served before, to be compared
   * @param onFile gets each file of the project that the declarations load, and the hash of its contents
   * @throws Error of `listen`
   */
  async load(
    previous: DeclaredParts | undefined,
    listen: Listen,
    onFile: (path: string, hash: string | undefined) => void,
  ): Promise<Serving | Faulty> {
    const child = this.#child;
    const outcome = Promise.withResolvers<Serving | Faulty>();
    child.on("message", (report: Report) => {
      if (report.kind === "file") {
        this.#files[report.path] = report.hash;
        return void onFile(report.path, report.hash);
      }
      this.#loadingSince = report.kind === "loading" ? performance.now() : undefined;
      if (report.kind === "serving" || report.kind === "faulty") outcome.resolve(report);
      if (report.kind !== "settings") return;
      listen(report.host, report.port).then(
        (port) => this.#instruct({ kind: "listening", port }),
        (error: unknown) => outcome.reject(error),
      );
    });
    // handled: it never rejects.
    void this.ended.then((code) => {
      const message = `the process that loads the declarations ended with ${codeText(code)}`;
      outcome.resolve({ kind: "faulty", message, files: this.#files });
    });
    this.#instruct({ kind: "load", previous });
    const result = await outcome.promise;
    if (result.kind === "serving") this.#servesSince = performance.now();
    return result;
  }

  /** Passes a connection on. */
  accept(connection: Socket): void {
    if (!this.#child.connected) return void connection.destroy();
    this.#sent.add(connection);
    this.#child.send("connection", connection, () => this.#sent.delete(connection));
  }

  /** The connections that did not reach the process before it ended. */
  get unsent(): readonly Socket[] {
    return [...this.#sent].filter(({ destroyed }) => !destroyed);
  }

  /**
   * Ends the process once the requests in progress are answered.
   * @returns once it answers no further request, also on connections that callers keep open
   */
  async close(): Promise<void> {
    const released = new Promise<void>((resolve) =>
      this.#child.on("message", ({ kind }: Report) => kind === "released" && resolve()),
    );
    this.#instruct({ kind: "close" });
    await Promise.race([released, this.ended]);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #instruct(instruction: Instruction): void {
    // An error means that the process has ended, which is reported by `ended`.
    if (this.#child.connected) this.#child.send(instruction, () => {});
  }
}

/** `code 1`, `SIGKILL` */
export function codeText(code: number | string): string {
  return typeof code === "number" ? `code ${code}` : code;
}

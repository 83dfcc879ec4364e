// Starts servers and runs commands of Portico, inside this process or as processes of their own.

import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { describe } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import type { App } from "../../src/declare/app.ts";
import type { PorticoServer } from "../../src/server.ts";
import { skipped } from "./installed-programs.ts";

export const projectFolder = resolve(import.meta.dirname, "../../../..");
export const program = resolve(projectFolder, "packages/portico/bin/portico.js");

export type DatabaseName = "sqlite" | "postgres";

/**
 * Declares a suite once for each database. PostgreSQL is skipped, with the reason, on a machine that cannot
 * have it; in CI that is a failure.
 */
export function onEachDatabase(name: string, suite: (database: DatabaseName) => void): void {
  describe(`${name} (SQLite)`, () => suite("sqlite"));
  describe(`${name} (PostgreSQL)`, { skip: whyNoPostgres() }, () => suite("postgres"));
}

/** Why a suite that needs PostgreSQL is skipped; false if there is one. @throws Error in CI */
export function whyNoPostgres(): string | false {
  const { PORTICO_TEST_POSTGRES: url, PORTICO_TEST_POSTGRES_MISSING: fault } = process.env;
  return url === undefined && skipped(fault ?? "run the tests with npm test, which starts PostgreSQL");
}

/**
 * Declares a suite whose results do not depend on the kind of database: on SQLite, and in CI also on PostgreSQL.
 */
export function onOneDatabase(name: string, suite: (database: DatabaseName) => void): void {
  if (process.env.CI) onEachDatabase(name, suite);
  else describe(`${name} (SQLite)`, () => suite("sqlite"));
}

/** An empty database and a folder; `remove` deletes both. */
export interface Workspace {
  readonly folder: string;
  readonly databaseUrl: string;
  remove(): Promise<void>;
}

/** @param server the PostgreSQL server to create the database in; by default that of the whole run */
export async function makeWorkspace(
  database: DatabaseName,
  server: string = process.env.PORTICO_TEST_POSTGRES!,
): Promise<Workspace> {
  const folder = mkdtempSync(join(tmpdir(), "portico-test-"));
  if (database === "sqlite") {
    const remove = async (): Promise<void> => rmSync(folder, { recursive: true, force: true });
    return { folder, databaseUrl: `file:${join(folder, "portico.db")}`, remove };
  }
  const name = `test_${randomBytes(8).toString("hex")}`;
  const admin = async (statement: string): Promise<void> => {
    const sql = postgres(`${server}/postgres`, { max: 1, onnotice: () => {} });
    await sql.unsafe(statement);
    await sql.end();
  };
  await admin(`create database ${name}`);
  return {
    folder,
    databaseUrl: `${server}/${name}`,
    remove: async () => {
      await admin(`drop database ${name} with (force)`);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined if it is empty. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read any member; a missing one makes them fail.
  readonly body: any;
}

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  /** Sent as JSON; a string is sent unchanged. */
  readonly body?: unknown;
  /** The API key, by default the first key of the sandbox; `null` sends none. */
  readonly key?: string | null;
}

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Environment = Readonly<Record<string, string>>;

/** Suites send thousands of requests with one key. Suites about quotas set their own. */
const plentiful: Environment = {
  PORTICO_KEY_QUOTA: "10000000/60",
  PORTICO_FAILED_AUTH_QUOTA: "10000000/60",
};

export interface CommandOptions {
  readonly env?: Environment;
  readonly cwd?: string;
}

export interface ProcessCommandOptions extends CommandOptions {
  /** When a command that still runs is killed: its code is null. */
  readonly killAfterMs?: number;
  /** What it reads from standard input. */
  readonly input?: string;
}

/** Runs a command inside this process, in a tenth of the time of a process: `portico(workspace, ["key", "list"])`. */
export async function portico(
  { databaseUrl }: Pick<Workspace, "databaseUrl">,
  words: readonly string[],
  { env = {}, cwd = projectFolder }: CommandOptions = {},
): Promise<CommandResult> {
  // Loaded on use, as tests of pure functions need none of it.
  const [{ operatorMessage }, { run }] = await Promise.all([
    import("../../src/cli/operator-message.ts"),
    import("../../src/cli/run.ts"),
  ]);
  try {
    const output = await run(words, { folder: cwd, environment: { DATABASE_URL: databaseUrl, ...env } });
    return { code: 0, stdout: `${output}\n`, stderr: "" };
  } catch (error) {
    return { code: 1, stdout: "", stderr: `portico: ${operatorMessage(error)}\n` };
  }
}

/**
 * Runs a command as a process of its own: for `serve`, for tests of exit codes and output, and for declarations that
 * change during the test, as a process loads them once.
 */
export async function porticoProcess(
  workspace: Pick<Workspace, "databaseUrl">,
  words: readonly string[],
  { env = {}, cwd = projectFolder, killAfterMs = 60_000, input }: ProcessCommandOptions = {},
): Promise<CommandResult> {
  const options: StartedProcessOptions = {
    timeout: killAfterMs,
    killSignal: "SIGKILL",
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  };
  const child = start(words, { DATABASE_URL: workspace.databaseUrl, ...env }, cwd, options);
  child.stdin?.end(input);
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk) => (stdout += chunk));
  child.stderr?.on("data", (chunk) => (stderr += chunk));
  const [code] = await once(child, "close");
  return { code, stdout, stderr };
}

export interface StartOptions {
  readonly env?: Environment;
  readonly cwd?: string;
  readonly key?: string;
}

/** A running server: inside this process by default, or a process of its own (`PorticoProcess`). */
export abstract class Portico {
  readonly workspace: Workspace;
  readonly url: string;
  /** The first key of the sandbox; empty if the database was not empty. */
  readonly key: string;
  readonly #output: Output;

  protected constructor(workspace: Workspace, url: string, key: string, output: Output) {
    this.workspace = workspace;
    this.url = url;
    this.key = key;
    this.#output = output;
  }

  /** Starts a server inside this process. @param options for a database that is not empty, `key` is its first key */
  static start(workspace: Workspace, options: StartOptions = {}): Promise<Portico> {
    return EmbeddedPortico.start(workspace, options);
  }

  /** Starts a server for declarations instead of a project, inside this process. */
  static startApp(workspace: Workspace, app: App, options: Omit<StartOptions, "cwd"> = {}): Promise<Portico> {
    return EmbeddedPortico.startApp(workspace, app, options);
  }

  /** The log so far; for a process, everything that it printed. */
  get output(): string {
    return this.#output.text;
  }

  async request(path: string, { method, headers = {}, body, key }: RequestOptions = {}): Promise<Answer> {
    const credential = key === undefined ? this.key : key;
    const sent: Record<string, string> = {
      ...(credential !== null && { authorization: `Bearer ${credential}` }),
    };
    if (body !== undefined) sent["content-type"] = "application/json";
    const response = await fetch(this.url + path, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: { ...sent, ...headers },
      redirect: "manual",
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text === "" ? undefined : JSON.parse(text),
    };
  }

  /** Stops the server in order. @returns the exit code; 0 for a server inside this process */
  abstract stop(): Promise<number | null>;
}

interface Output {
  text: string;
}

const serverEnvironment = ({ databaseUrl }: Workspace, env: Environment): Environment => ({
  ...{ DATABASE_URL: databaseUrl, PORT: "0" },
  ...plentiful,
  ...env,
});

/** A server inside this process. */
class EmbeddedPortico extends Portico {
  readonly #server: PorticoServer;

  private constructor(workspace: Workspace, server: PorticoServer, key: string, output: Output) {
    super(workspace, server.url, key, output);
    this.#server = server;
  }

  static override async start(
    workspace: Workspace,
    { cwd = projectFolder, ...options }: StartOptions,
  ): Promise<EmbeddedPortico> {
    const { loadApp } = await import("../../src/runtime/config.ts");
    return EmbeddedPortico.startApp(workspace, await loadApp(cwd), options);
  }

  static override async startApp(
    workspace: Workspace,
    app: App,
    { env = {}, key }: Omit<StartOptions, "cwd">,
  ): Promise<EmbeddedPortico> {
    // Loaded on use, as tests of pure functions need none of it.
    const [{ createServer }, { readSettings }] = await Promise.all([
      import("../../src/server.ts"),
      import("../../src/runtime/settings/settings.ts"),
    ]);
    const settings = readSettings(serverEnvironment(workspace, env), app.settings);
    const output = { text: "" };
    const write = (lines: string): void => {
      output.text += lines;
    };
    const server = await createServer(app, { ...settings, log: { write } });
    await server.listen();
    return new EmbeddedPortico(workspace, server, key ?? server.sandboxKey ?? "", output);
  }

  async stop(): Promise<number> {
    await this.#server.close();
    return 0;
  }
}

export interface ProcessOptions extends StartOptions {
  /** The program to start; by default that of this repository. */
  readonly file?: string;
}

/** A server as a process of its own, as users start it, for tests that send signals, kill it or measure its memory. */
export class PorticoProcess extends Portico {
  readonly #child: ChildProcess;

  private constructor(workspace: Workspace, url: string, key: string, child: ChildProcess, output: Output) {
    super(workspace, url, key, output);
    this.#child = child;
  }

  static override async start(
    workspace: Workspace,
    { env = {}, cwd = projectFolder, key, file = program }: ProcessOptions = {},
  ): Promise<PorticoProcess> {
    const child = start(["serve"], serverEnvironment(workspace, env), cwd, {}, file);
    const output = { text: "" };
    child.stdout?.on("data", (chunk) => (output.text += chunk));
    child.stderr?.on("data", (chunk) => (output.text += chunk));
    for (const until = Date.now() + 60_000; Date.now() < until; await sleep(10)) {
      const url = /"url":"(http:[^"]+)"/.exec(output.text)?.[1];
      const printedKey = /\s{2}(sk_\w+_[\w-]{43})\n/.exec(output.text)?.[1];
      if (url) return new PorticoProcess(workspace, url, key ?? printedKey ?? "", child, output);
      if (child.exitCode !== null) break;
    }
    child.kill("SIGKILL");
    throw new Error(`the server did not start:\n${output.text}`);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Sends a signal and waits for the end. @returns the exit code */
  async stop(signal: "SIGTERM" | "SIGINT" = "SIGTERM"): Promise<number | null> {
    return this.#end(signal);
  }

  /** Sends SIGKILL, like a crash or a power failure. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Waits for the process to end. @returns the exit code */
  async ended(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "close");
    return this.#child.exitCode;
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return this.#child.exitCode;
    const closed = once(this.#child, "close");
    this.#child.kill(signal);
    const [code] = await closed;
    return code;
  }
}

type StartedProcessOptions = Pick<SpawnOptions, "timeout" | "killSignal" | "stdio">;

function start(
  words: readonly string[],
  env: Environment,
  cwd: string,
  options: StartedProcessOptions = {},
  file: string = program,
): ChildProcess {
  const { PATH = "", HOME = "" } = process.env;
  // As operators start it: its first line has the options of Node.
  return spawn(file, words, {
    cwd,
    env: { PATH: [dirname(process.execPath), PATH].join(delimiter), HOME, NODE_NO_WARNINGS: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
  });
}

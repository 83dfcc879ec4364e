// The processes that the bench starts. They end with the bench, however it ends; no others are touched.

import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";

const running = new Set<ChildProcess>();
let isInterrupted = false;
const messageTimeoutMs = 30_000;

process.once("exit", killAll);

/** Kills all child processes and starts no more, so that everything that waits for one fails. */
export function interrupt(): void {
  isInterrupted = true;
  killAll();
}

function killAll(): void {
  for (const child of running) child.kill("SIGKILL");
}

export function startChild(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  if (isInterrupted) throw new Error("interrupted");
  const child = spawn(program, args, options);
  running.add(child);
  child.once("close", () => running.delete(child));
  child.once("error", () => running.delete(child));
  return child;
}

/** Runs a program to its end. @returns what it wrote to standard output @throws Error if it fails */
export async function runChild(
  program: string,
  args: readonly string[],
  { timeoutMs, ...options }: { timeoutMs: number; env?: NodeJS.ProcessEnv; cwd?: string },
): Promise<string> {
  const child = startChild(program, args, {
    ...options,
    stdio: ["ignore", "pipe", "inherit"],
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  const written: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => written.push(chunk));
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  if (code !== 0) throw new Error(`${program} ended with ${signal ?? `exit code ${code}`}`);
  return Buffer.concat(written).toString();
}

/** A server in a process of its own, on this machine. */
export interface ChildServer {
  readonly url: string;
  readonly child: ChildProcess;
}

/** @param program one that calls `serve` @throws Error if it ends, or does not report its port in time */
export async function startServer(program: string, args: readonly string[] = []): Promise<ChildServer> {
  const child = startChild(process.execPath, [program, ...args], {
    // Standard output is for the results of the bench.
    stdio: ["ignore", process.stderr.fd, process.stderr.fd, "ipc"],
    env: { ...process.env, NODE_ENV: "production" },
  });
  try {
    return { url: `http://127.0.0.1:${await nextMessage(child)}`, child };
  } catch (error) {
    await stopChild(child);
    throw new Error(`${program} did not start: ${(error as Error).message}`);
  }
}

/** The next message of a process. */
export async function nextMessage(child: ChildProcess): Promise<unknown> {
  const aborter = new AbortController();
  const { signal } = aborter;
  const timeout = setTimeout(() => aborter.abort(new Error("it sent no message in time")), messageTimeoutMs);
  const ended = (): void => aborter.abort(new Error("it has ended"));
  child.once("close", ended);
  try {
    const [message] = await once(child, "message", { signal });
    return message;
  } catch {
    throw signal.reason;
  } finally {
    child.off("close", ended);
    clearTimeout(timeout);
  }
}

/** Sends SIGTERM, then SIGKILL if the process has not ended after 15 seconds. */
export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  const timeout = setTimeout(() => child.kill("SIGKILL"), 15_000);
  child.kill("SIGTERM");
  await closed;
  clearTimeout(timeout);
}

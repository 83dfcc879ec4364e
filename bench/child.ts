// The processes that the bench starts. Whatever happens to the bench, it ends them: these and no others.

import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";

const running = new Set<ChildProcess>();
let isInterrupted = false;
const patienceMs = 30_000;

process.once("exit", killAll);

/** Ends what runs, so that whatever waits for it fails, and lets nothing new start. */
export function interrupt(): void {
  isInterrupted = true;
  killAll();
}

function killAll(): void {
  for (const child of running) child.kill("SIGKILL");
}

export function startChild(program: string, words: readonly string[], options: SpawnOptions): ChildProcess {
  if (isInterrupted) throw new Error("interrupted");
  const child = spawn(program, words, options);
  running.add(child);
  child.once("close", () => running.delete(child));
  child.once("error", () => running.delete(child));
  return child;
}

/** Runs a program to its end. @returns what it wrote to standard output @throws Error where it fails */
export async function runChild(
  program: string,
  words: readonly string[],
  { timeoutMs, ...options }: { timeoutMs: number; env?: NodeJS.ProcessEnv; cwd?: string },
): Promise<string> {
  const child = startChild(program, words, {
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

/** @param program one that calls `serve` @throws Error where it ends or says nothing */
export async function startServer(program: string, words: readonly string[] = []): Promise<ChildServer> {
  const child = startChild(process.execPath, [program, ...words], {
    // Standard output is the bench's own.
    stdio: ["ignore", process.stderr.fd, process.stderr.fd, "ipc"],
    env: { ...process.env, NODE_ENV: "production" },
  });
  try {
    return { url: `http://127.0.0.1:${await messageOf(child)}`, child };
  } catch (error) {
    await stopChild(child);
    throw new Error(`${program} did not start: ${(error as Error).message}`);
  }
}

/** The next thing that a process says. */
export async function messageOf(child: ChildProcess): Promise<unknown> {
  const over = new AbortController();
  const { signal } = over;
  const patience = setTimeout(() => over.abort(new Error("it says nothing")), patienceMs);
  const ended = (): void => over.abort(new Error("it has ended"));
  child.once("close", ended);
  try {
    const [message] = await once(child, "message", { signal });
    return message;
  } catch {
    throw signal.reason;
  } finally {
    child.off("close", ended);
    clearTimeout(patience);
  }
}

/** SIGTERM, and SIGKILL for what does not end by then. */
export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  const impatient = setTimeout(() => child.kill("SIGKILL"), 15_000);
  child.kill("SIGTERM");
  await closed;
  clearTimeout(impatient);
}

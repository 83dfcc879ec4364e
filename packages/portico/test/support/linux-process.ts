// What Linux says about a process: memory, open files, and the connections of a server.

import { readdirSync, readFileSync } from "node:fs";

/** The resident memory of a process. */
export function rssMib(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round(Number(kibibytes) / 1024);
}

/** The number of connections to a server that it has not closed. */
export function countConnections(url: string): number {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, "0");
  const lines = readFileSync("/proc/net/tcp", "utf8").split("\n");
  // The local address, the remote one, and the state: established, or closed by the other side only.
  return lines.filter((line) => new RegExp(`^ *\\d+: \\w+:${port} \\w+:\\w+ 0[18] `).test(line)).length;
}

/** The number of files and sockets that a process has open. */
export function countHandles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

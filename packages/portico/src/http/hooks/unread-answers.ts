// Answers that their callers do not read. What the system does not take stays in memory, so whoever takes nothing, or
// next to nothing, is cut off; and all that waits has a bound, beyond which those go who took something longest ago.

import type { Socket } from "node:net";
import { LoggedProblem } from "../../errors.ts";
import type { Connection, Connections } from "../connections.ts";
import type { OverloadLog } from "../logging/overload-log.ts";

/** So long a peer may take nothing while bytes wait for it. */
const graceMs = 30_000;
/** So slowly a peer may read, on average, once that time is over. */
const minBytesPerSecond = 4 * 1024;
const intervalMs = 1_000;

/** How a peer has been reading since bytes began to wait for it. */
interface ReadProgress {
  readonly since: number;
  readonly readBefore: number;
  read: number;
  readAt: number;
}

/** Node tells of a socket how much was handed to the system, and here what of it the system has not taken yet. */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/** Bytes that the system took for the peer: a large answer is written at once, and only this tells how far it got. */
function readBytes(socket: Socket): number {
  // Not public, but what Node's own time-outs of sockets look at (lib/net.js).
  const { _handle: handle } = socket as Socket & { readonly _handle: Handle | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}

export interface UnreadBounds {
  /** Bytes that may wait for all peers together. */
  readonly maxUnreadBytes: number;
  readonly overloads: OverloadLog;
}

export class UnreadResponses {
  readonly #connections: Connections;
  readonly #bounds: UnreadBounds;
  readonly #readings = new WeakMap<Connection, ReadProgress>();
  readonly #timer: NodeJS.Timeout;
  /** What waited at the last look, and what was answered since. */
  #unreadBytes = 0;
  #sentBytes = 0;
  #isCheckDue = false;

  constructor(connections: Connections, bounds: UnreadBounds) {
    this.#connections = connections;
    this.#bounds = bounds;
    this.#timer = setInterval(() => this.#check(performance.now()), intervalMs).unref();
  }

  /** Counts an answer that is about to be written. */
  add(bytes: number): void {
    this.#sentBytes += bytes;
    if (this.#isCheckDue || this.#sentBytes < this.#bounds.maxUnreadBytes / 4) return;
    this.#isCheckDue = true;
    setImmediate(() => {
      this.#isCheckDue = false;
      this.#check(performance.now());
    });
  }

  /**
   * Of requests that arrive together all are answered before any answer leaves the process: what is cut off then is
   * freed too late. So those who have answers to read are refused first, and everybody at twice as much.
   *
   * @throws Problem `unavailable`
   */
  requireCapacity(connection: Connection | undefined): void {
    const { maxUnreadBytes } = this.#bounds;
    const bytes = this.#unreadBytes + this.#sentBytes;
    if (bytes <= maxUnreadBytes) return;
    if (bytes <= 2 * maxUnreadBytes && connection?.unreadBytes === 0) return;
    this.#bounds.overloads.count("requestsRefused");
    throw new LoggedProblem("unavailable", "Too many answers wait to be read. Try again.");
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(now: number): void {
    const waiting: { connection: Connection; bytes: number; readAt: number }[] = [];
    let total = 0;
    for (const connection of this.#connections) {
      const bytes = connection.unreadBytes;
      const reading = this.#measure(connection, bytes, now);
      if (!reading) continue;
      if (isTooSlow(reading, now)) {
        this.#connections.close(connection);
        continue;
      }
      waiting.push({ connection, bytes, readAt: reading.readAt });
      total += bytes;
    }
    this.#sentBytes = 0;
    this.#unreadBytes = total > this.#bounds.maxUnreadBytes ? this.#closeSlowest(waiting, total) : total;
  }

  #measure(connection: Connection, bytes: number, now: number): ReadProgress | undefined {
    if (bytes === 0) {
      this.#readings.delete(connection);
      return undefined;
    }
    const bytesRead = readBytes(connection.socket);
    const known = this.#readings.get(connection);
    if (!known) {
      const initial = { since: now, readBefore: bytesRead, read: bytesRead, readAt: now };
      this.#readings.set(connection, initial);
      return initial;
    }
    if (bytesRead > known.read) [known.read, known.readAt] = [bytesRead, now];
    return known;
  }

  /** @returns what waits still */
  #closeSlowest(waiting: { connection: Connection; bytes: number; readAt: number }[], total: number): number {
    waiting.sort((one, other) => one.readAt - other.readAt || other.bytes - one.bytes);
    let left = total;
    for (const { connection, bytes } of waiting) {
      if (left <= this.#bounds.maxUnreadBytes) break;
      this.#connections.close(connection);
      left -= bytes;
      this.#bounds.overloads.count("connectionsClosed");
    }
    return left;
  }
}

function isTooSlow({ since, readBefore, read: bytesRead, readAt }: ReadProgress, now: number): boolean {
  if (now - readAt >= graceMs) return true;
  const seconds = (now - since) / 1000;
  return now - since >= graceMs && bytesRead - readBefore < seconds * minBytesPerSecond;
}

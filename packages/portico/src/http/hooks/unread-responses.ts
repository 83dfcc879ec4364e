// Bounds the memory for responses that callers do not read. Bytes that the system does not accept stay in memory, so
// connections that read nothing, or too slowly, are closed. If all unread responses together exceed a limit, the
// connections that have read nothing for the longest time are closed first.

import type { Socket } from "node:net";
import { LoggedProblem } from "../../errors.ts";
import type { Connection, Connections } from "../connections.ts";
import type { OverloadLog } from "../logging/overload-log.ts";

/** How long a peer may read nothing while bytes are waiting for it. */
const graceMs = 30_000;
/** The minimum average speed of a peer after that time. */
const minBytesPerSecond = 4 * 1024;
const intervalMs = 1_000;

/** What a peer has read since bytes began to wait for it; times in milliseconds of `performance.now()`. */
interface ReadProgress {
  readonly since: number;
  /** Bytes that the peer had read at `since`, and those it has read now, both since the connection was opened. */
  readonly initialBytes: number;
  bytes: number;
  lastReadAt: number;
}

/** Node's internal handle of a socket: bytes passed to the system, and how many of them it has not accepted yet. */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/** Bytes that the system has accepted. `socket.bytesWritten` counts a large response as soon as it is written. */
function readBytes(socket: Socket): number {
  // Not public; Node's own socket timeouts use it (lib/net.js).
  const { _handle: handle } = socket as Socket & { readonly _handle: Handle | null };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}

export interface UnreadBounds {
  /** Unread bytes allowed for all connections together. */
  readonly maxUnreadBytes: number;
  readonly overloads: OverloadLog;
}

export class UnreadResponses {
  readonly #connections: Connections;
  readonly #bounds: UnreadBounds;
  readonly #progress = new WeakMap<Connection, ReadProgress>();
  readonly #timer: NodeJS.Timeout;
  /** Unread bytes at the latest check, and bytes sent since. */
  #unreadBytes = 0;
  #sentBytes = 0;
  #isCheckDue = false;

  constructor(connections: Connections, bounds: UnreadBounds) {
    this.#connections = connections;
    this.#bounds = bounds;
    this.#timer = setInterval(() => this.#check(performance.now()), intervalMs).unref();
  }

  /** Counts a response that is about to be written. */
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
   * Refuses a request while too much is unread. Requests that arrive together are all answered before any response
   * leaves the process, so closing connections would free memory too late. Connections with unread responses are
   * refused first, and all others at twice the limit.
   *
   * @throws Problem `unavailable`
   */
  requireCapacity(connection: Connection | undefined): void {
    const { maxUnreadBytes } = this.#bounds;
    const bytes = this.#unreadBytes + this.#sentBytes;
    if (bytes <= maxUnreadBytes) return;
    if (bytes <= 2 * maxUnreadBytes && connection?.unreadBytes === 0) return;
    this.#bounds.overloads.count("requestsRefused");
    throw new LoggedProblem("unavailable", "Too many responses are waiting to be read. Try again.");
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(now: number): void {
    const unread: { connection: Connection; bytes: number; readAt: number }[] = [];
    let total = 0;
    for (const connection of this.#connections) {
      const bytes = connection.unreadBytes;
      const progress = this.#measure(connection, bytes, now);
      if (!progress) continue;
      if (isTooSlow(progress, now)) {
        this.#connections.close(connection);
        continue;
      }
      unread.push({ connection, bytes, readAt: progress.lastReadAt });
      total += bytes;
    }
    this.#sentBytes = 0;
    this.#unreadBytes = total > this.#bounds.maxUnreadBytes ? this.#closeSlowest(unread, total) : total;
  }

  #measure(connection: Connection, bytes: number, now: number): ReadProgress | undefined {
    if (bytes === 0) {
      this.#progress.delete(connection);
      return undefined;
    }
    const bytesRead = readBytes(connection.socket);
    const known = this.#progress.get(connection);
    if (!known) {
      const initial = { since: now, initialBytes: bytesRead, bytes: bytesRead, lastReadAt: now };
      this.#progress.set(connection, initial);
      return initial;
    }
    if (bytesRead > known.bytes) [known.bytes, known.lastReadAt] = [bytesRead, now];
    return known;
  }

  /** @returns the bytes that are still unread */
  #closeSlowest(unread: { connection: Connection; bytes: number; readAt: number }[], total: number): number {
    unread.sort((one, other) => one.readAt - other.readAt || other.bytes - one.bytes);
    let left = total;
    for (const { connection, bytes } of unread) {
      if (left <= this.#bounds.maxUnreadBytes) break;
      this.#connections.close(connection);
      left -= bytes;
      this.#bounds.overloads.count("connectionsClosed");
    }
    return left;
  }
}

function isTooSlow({ since, initialBytes, bytes, lastReadAt }: ReadProgress, now: number): boolean {
  if (now - lastReadAt >= graceMs) return true;
  const seconds = (now - since) / 1000;
  return now - since >= graceMs && bytes - initialBytes < seconds * minBytesPerSecond;
}

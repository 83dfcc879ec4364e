// Limits what waits in memory for the client of a WebSocket. If a client sends without reading, the server stops reading
// from it, and its operations wait, until it has received what was sent. A client that never reads is disconnected by
// the server's time-out for all connections.

import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { FairQueue } from "../../lib/fair-queue.ts";

/** The server does not read while more bytes than this wait to be sent. */
const maxPendingBytes = 1024 * 1024;
/** Queries and mutations of a connection that run concurrently. Each can have a large result. */
const maxConcurrentOperations = 8;
/** The server does not read while more operations than this are queued. */
const maxQueuedOperations = 32;
/** The server does not read while the messages of unfinished operations have more bytes. They contain variables. */
const maxHeldBytes = 1024 * 1024;
/** Bytes that a client may send before it is authenticated. */
const maxUnauthenticatedBytes = 64 * 1024;

export class BackPressure {
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  readonly #onResumed: () => void;
  readonly #queue = new FairQueue({ slots: maxConcurrentOperations });
  /** Resolves once the client has received everything; undefined while little is pending. */
  #drained: Promise<void> | undefined;
  #resolveDrained = (): void => {};
  #heldBytes = 0;

  /** @param onResumed called when the server reads from the client again */
  constructor(socket: WebSocket, stream: Duplex, onResumed: () => void) {
    this.#socket = socket;
    this.#stream = stream;
    this.#onResumed = onResumed;
  }

  /** Bytes that were sent and have not been passed to the operating system yet. */
  get pendingBytes(): number {
    return this.#stream.writableLength;
  }

  /** Whether the server has stopped reading from the client. */
  get isPaused(): boolean {
    return this.#socket.isPaused;
  }

  /** Call this after each write. */
  wrote(): void {
    if (this.#drained || this.pendingBytes <= maxPendingBytes) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#drained = promise;
    this.#resolveDrained = () => {
      this.#drained = undefined;
      resolve();
      this.#pauseOrResume();
    };
    this.#stream.once("drain", this.#resolveDrained);
    this.#pauseOrResume();
  }

  /** Queues an operation with a single result. It runs once the client has received what is pending. */
  async inTurn(run: () => Promise<void>): Promise<void> {
    const done = this.#queue.run(async () => {
      this.#pauseOrResume();
      await this.#drained;
      await run();
    });
    this.#pauseOrResume();
    await done;
  }

  /** Runs an operation while counting the bytes of its message, until it has a result or waits for events. */
  async holding(bytes: number, run: () => Promise<void>): Promise<void> {
    this.#heldBytes += bytes;
    this.#pauseOrResume();
    try {
      await run();
    } finally {
      this.#heldBytes -= bytes;
      this.#pauseOrResume();
    }
  }

  /** The connection is closed: whatever waits for the client continues. */
  end(): void {
    this.#resolveDrained();
  }

  #pauseOrResume(): void {
    const mustPause =
      this.#drained !== undefined ||
      this.#queue.waiting > maxQueuedOperations ||
      this.#heldBytes > maxHeldBytes;
    // A connection that is closing is read, to receive the client's close frame.
    if (mustPause === this.#socket.isPaused || this.#socket.readyState !== this.#socket.OPEN) return;
    if (mustPause) {
      this.#socket.pause();
      return;
    }
    this.#socket.resume();
    this.#onResumed();
  }

  /**
   * Calls `onTooMuch` once the client has sent too much. All bytes count, including pings and incomplete messages.
   * @returns a function that stops counting
   */
  countUntilAuthenticated(onTooMuch: () => void): () => void {
    let bytes = 0;
    const count = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes <= maxUnauthenticatedBytes) return;
      stop();
      onTooMuch();
    };
    const stop = (): void => {
      this.#stream.off("data", count);
    };
    this.#stream.on("data", count);
    return stop;
  }
}

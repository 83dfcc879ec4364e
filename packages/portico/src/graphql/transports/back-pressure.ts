// Bounds what waits in memory for the peer of a WebSocket. A peer that sends and does not read is not read from either
// until it has taken what waits for it, and its operations wait. That a peer takes nothing for ever is the concern of
// the server, which disconnects it as any other.

import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { FairQueue } from "../../lib/fair-queue.ts";

/** While more than this waits to be sent, nothing is read. */
const pausedAtBytes = 1024 * 1024;
/** Queries and mutations of a connection that run at once; each can have a large answer. */
const maxRunning = 8;
/** While more than these wait for their turn, nothing is read. */
const maxWaiting = 32;
/** While the messages of operations that are not answered yet have more bytes, nothing is read: each has its variables. */
const pausedAtUnanswered = 1024 * 1024;
/** Bytes that a peer may send before it has shown its credential. */
const maxUnauthenticatedBytes = 64 * 1024;

export class BackPressure {
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  readonly #onResumed: () => void;
  readonly #queue = new FairQueue({ slots: maxRunning });
  /** Settled once the peer has taken everything; undefined while little waits for it. */
  #drained: Promise<void> | undefined;
  #endWait = (): void => {};
  #unansweredBytes = 0;

  /** @param onResumed called when the peer is read from again */
  constructor(socket: WebSocket, stream: Duplex, onResumed: () => void) {
    this.#socket = socket;
    this.#stream = stream;
    this.#onResumed = onResumed;
  }

  /** Bytes that were sent and that the system has not taken yet. */
  get waitingBytes(): number {
    return this.#stream.writableLength;
  }

  /** Whether the peer is not read from, so that nothing it says can be noticed. */
  get isPaused(): boolean {
    return this.#socket.isPaused;
  }

  /** Call it after each write. */
  wrote(): void {
    if (this.#drained || this.waitingBytes <= pausedAtBytes) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#drained = promise;
    this.#endWait = () => {
      this.#drained = undefined;
      resolve();
      this.#pauseOrResume();
    };
    this.#stream.once("drain", this.#endWait);
    this.#pauseOrResume();
  }

  /** Does the work of an operation with an answer once it has its turn and the peer has taken what waits. */
  async inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#queue.run(async () => {
      this.#pauseOrResume();
      await this.#drained;
      await work();
    });
    this.#pauseOrResume();
    await done;
  }

  /** Runs an operation whose message has so many bytes, until it is answered or waits for events. */
  async answering(bytes: number, run: () => Promise<void>): Promise<void> {
    this.#unansweredBytes += bytes;
    this.#pauseOrResume();
    try {
      await run();
    } finally {
      this.#unansweredBytes -= bytes;
      this.#pauseOrResume();
    }
  }

  /** The connection is closed: nobody will take what waits, and nobody waits for it. */
  end(): void {
    this.#endWait();
  }

  #pauseOrResume(): void {
    const mustPause =
      this.#drained !== undefined ||
      this.#queue.waiting > maxWaiting ||
      this.#unansweredBytes > pausedAtUnanswered;
    // One that is being closed is read from, so that the answer to the close frame is seen.
    if (mustPause === this.#socket.isPaused || this.#socket.readyState !== this.#socket.OPEN) return;
    if (mustPause) {
      this.#socket.pause();
      return;
    }
    this.#socket.resume();
    this.#onResumed();
  }

  /**
   * Calls `onTooMuch` once the peer has sent too much. All kinds of frames count, pings and unfinished messages too.
   * @returns what ends the count
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

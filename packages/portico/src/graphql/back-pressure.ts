// Bounds what waits in memory for the peer of a WebSocket: a peer that sends and does not read is not read from
// either until it has taken what waits for it, and is disconnected where the answers to what it sent before are too
// many.

import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";

/** While more than this waits to be sent, nothing is read. */
const pausedAtBytes = 1024 * 1024;
/** Where more than this waits already, the connection is closed instead of adding to it. */
const mostWaitingBytes = 16 * 1024 * 1024;
/** Bytes that a peer may send before it has shown its credential. */
const mostUnauthenticatedBytes = 64 * 1024;

export class BackPressure {
  readonly #socket: WebSocket;
  readonly #stream: Duplex;

  constructor(socket: WebSocket, stream: Duplex) {
    this.#socket = socket;
    this.#stream = stream;
  }

  /** Bytes that were sent and that the system has not taken yet. */
  get waitingBytes(): number {
    return this.#stream.writableLength;
  }

  get isOverflowing(): boolean {
    return this.waitingBytes > mostWaitingBytes;
  }

  /** Whether the peer is not read from, so that nothing it says can be noticed. */
  get isPaused(): boolean {
    return this.#socket.isPaused;
  }

  /** Call it after each write. */
  pauseIfFull(): void {
    if (this.#socket.isPaused || this.waitingBytes <= pausedAtBytes) return;
    this.#socket.pause();
    this.#stream.once("drain", () => this.#socket.resume());
  }

  /**
   * Calls `onTooMuch` once the peer has sent too much. All kinds of frames count, pings and unfinished messages too.
   * @returns what ends the count
   */
  countUntilAuthenticated(onTooMuch: () => void): () => void {
    let bytes = 0;
    const count = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes <= mostUnauthenticatedBytes) return;
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

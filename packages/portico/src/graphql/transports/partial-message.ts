// The message of a WebSocket that is being received. Until it is complete it costs memory and no quota, so it has a
// bound in time, and its bytes count among all that is being received.

import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";

/** As long as a request over HTTP may take. */
const maxMs = 30_000;
/** What a piece that came by itself costs beside its bytes. */
const bytesOfPiece = 256;

/** What is being received of one message, among that of all. */
export interface Receipt {
  hold(bytes: number): void;
  end(): void;
}

/** Counts what is being received. `refuse` is called where all together is too much and this has taken longest. */
export type Receive = (refuse: () => void) => Receipt;

/** What `ws` holds of frames and messages that are not complete (lib/receiver.js). It is not public. */
interface Receiver {
  readonly _bufferedBytes: number;
  readonly _messageLength: number;
  readonly _buffers: readonly Buffer[];
  readonly _fragments: readonly Buffer[];
}

export interface PartialMessageOptions {
  readonly receive: Receive;
  readonly onTooMuch: () => void;
  readonly onTooLong: () => void;
}

export class PartialMessage {
  readonly #socket: WebSocket;
  readonly #receiver: Receiver;
  readonly #parts: PartialMessageOptions;
  #receipt: Receipt | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param stream what the frames of `socket` come from; `ws` reads it already, and so before this does */
  constructor(socket: WebSocket, stream: Duplex, parts: PartialMessageOptions) {
    this.#socket = socket;
    // Frames that are split tell nobody of themselves, so that only `ws` knows what it holds.
    this.#receiver = (socket as WebSocket & { readonly _receiver: Receiver })._receiver;
    this.#parts = parts;
    stream.on("data", () => this.#look());
    // Pings stand between the pieces of a message and complete none.
    socket.on("message", () => this.end());
  }

  get isUnderWay(): boolean {
    return this.#timer !== undefined;
  }

  /** Call it once the socket is read from again: the time in which it was not is none that the peer took. */
  resumed(): void {
    this.#timer?.refresh();
  }

  /** Nothing is held any more. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#receipt?.end();
    this.#receipt = undefined;
  }

  #look(): void {
    const { _bufferedBytes, _messageLength, _buffers, _fragments } = this.#receiver;
    const pieces = _buffers.length + _fragments.length;
    if (pieces === 0) {
      this.end();
      return;
    }
    this.#timer ??= setTimeout(() => this.#tooLong(), maxMs);
    this.#receipt ??= this.#parts.receive(this.#parts.onTooMuch);
    this.#receipt.hold(_bufferedBytes + _messageLength + pieces * bytesOfPiece);
  }

  #tooLong(): void {
    if (this.#socket.isPaused) this.#timer?.refresh();
    else this.#parts.onTooLong();
  }
}

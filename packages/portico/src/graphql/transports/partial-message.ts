// The WebSocket message that is being received. Until it is complete it uses memory and no quota, so there is a time
// limit, and its bytes count towards the server's limit for all messages being received.

import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";

/** The same as for a request over HTTP. */
const timeoutMs = 30_000;
/** Memory that each fragment needs in addition to its bytes. */
const fragmentOverheadBytes = 256;

/** A reservation of memory for a message that is being received. */
export interface Receipt {
  /** Sets the size of the reservation. */
  update(bytes: number): void;
  end(): void;
}

/** Reserves memory for a message. `refuse` is called if all messages need too much and this one has taken longest. */
export type Receive = (refuse: () => void) => Receipt;

/** The private state of `ws` that holds incomplete frames and messages (lib/receiver.js). */
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
  readonly #options: PartialMessageOptions;
  #receipt: Receipt | undefined;
  #timeout: NodeJS.Timeout | undefined;

  /** @param stream the connection that carries the frames of `socket`; `ws` must already listen for its data */
  constructor(socket: WebSocket, stream: Duplex, options: PartialMessageOptions) {
    this.#socket = socket;
    // `ws` emits no event for an incomplete frame or message.
    this.#receiver = (socket as WebSocket & { readonly _receiver: Receiver })._receiver;
    this.#options = options;
    stream.on("data", () => this.#measure());
    // Control frames can come between fragments and complete no message.
    socket.on("message", () => this.end());
  }

  /** Whether a message has begun and is not complete. */
  get isReceiving(): boolean {
    return this.#timeout !== undefined;
  }

  /** Restarts the time-out after back pressure: the server did not read meanwhile. */
  resumed(): void {
    this.#timeout?.refresh();
  }

  /** Ends the reservation. */
  end(): void {
    clearTimeout(this.#timeout);
    this.#timeout = undefined;
    this.#receipt?.end();
    this.#receipt = undefined;
  }

  #measure(): void {
    const { _bufferedBytes, _messageLength, _buffers, _fragments } = this.#receiver;
    const fragments = _buffers.length + _fragments.length;
    if (fragments === 0) {
      this.end();
      return;
    }
    this.#timeout ??= setTimeout(() => this.#onTimeout(), timeoutMs);
    this.#receipt ??= this.#options.receive(this.#options.onTooMuch);
    this.#receipt.update(_bufferedBytes + _messageLength + fragments * fragmentOverheadBytes);
  }

  #onTimeout(): void {
    if (this.#socket.isPaused) this.#timeout?.refresh();
    else this.#options.onTooLong();
  }
}

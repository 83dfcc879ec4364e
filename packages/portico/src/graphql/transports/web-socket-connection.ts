// A WebSocket: heartbeats, limits on what it receives, and frames that are written together.

import type { Duplex } from "node:stream";
import type { RawData, WebSocket } from "ws";
import { BackPressure } from "./back-pressure.ts";
import { closeCodes } from "./client-message.ts";
import { PartialMessage, type Receive } from "./partial-message.ts";

/** The reason of a close frame is limited to 123 bytes. A truncated character is replaced by one of three bytes. */
const maxReasonBytes = 119;

export interface ConnectionOptions {
  /** Reserves memory for a message that is being received. */
  readonly receive: Receive;
  readonly onMessage: (data: RawData, isBinary: boolean) => void;
  /** Called before the connection closes, so that nothing more is sent to it. May be called twice. */
  readonly onClosing: () => void;
  readonly onClosed: (code: number) => void;
}

export class WebSocketConnection {
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  readonly #options: ConnectionOptions;
  readonly #partialMessage: PartialMessage;
  readonly backPressure: BackPressure;
  #isCorked = false;
  #hasAnswered = true;

  /** @param stream the connection that carries the frames of `socket` */
  constructor(socket: WebSocket, stream: Duplex, options: ConnectionOptions) {
    this.#socket = socket;
    this.#stream = stream;
    this.#options = options;
    this.backPressure = new BackPressure(socket, stream, () => this.#partialMessage.resumed());
    this.#partialMessage = new PartialMessage(socket, stream, {
      receive: options.receive,
      onTooMuch: () => this.#terminate("tryAgain", "Too many messages are being received"),
      onTooLong: () => this.close("badRequest", "A message was not received in time"),
    });
    socket.on("error", () => {});
    socket.on("ping", (payload) => this.#sendWith(() => socket.pong(payload)));
    socket.on("pong", () => {
      this.#hasAnswered = true;
    });
    socket.on("message", (data, isBinary) => {
      if (this.isOpen) options.onMessage(data, isBinary);
    });
    socket.on("close", (code) => {
      this.#partialMessage.end();
      options.onClosing();
      this.backPressure.end();
      options.onClosed(code);
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** The subprotocol that was negotiated. */
  get protocol(): string {
    return this.#socket.protocol;
  }

  /** Bytes that were sent and have not left the process yet. */
  get pendingBytes(): number {
    return this.backPressure.pendingBytes;
  }

  /**
   * Pings the client, and disconnects it if it has not answered the previous ping. A client that is not being read
   * cannot answer: the server's time-out for clients that do not read applies. Neither can one that is in the middle of
   * a frame, which has its own time-out.
   */
  heartbeat(): void {
    if (this.backPressure.isPaused || this.#partialMessage.isReceiving) {
      this.#hasAnswered = true;
      return;
    }
    if (this.#hasAnswered) this.#socket.ping();
    else this.#socket.terminate();
    this.#hasAnswered = false;
  }

  /** Sends a text message. Does nothing once the connection is closing. */
  send(text: string): void {
    this.#sendWith(() => this.#socket.send(text));
  }

  /** Writes encoded frames. All frames of one turn of the event loop are written together. */
  write(frames: Buffer): void {
    if (!this.isOpen) return;
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#stream.cork();
      process.nextTick(() => {
        this.#isCorked = false;
        this.#stream.uncork();
      });
    }
    this.#stream.write(frames);
    this.backPressure.wrote();
  }

  #sendWith(send: () => void): void {
    if (!this.isOpen) return;
    send();
    this.backPressure.wrote();
  }

  /** Starts the closing handshake. */
  close(code: keyof typeof closeCodes, reason: string): void {
    this.#options.onClosing();
    // The client's close frame must be read even under back pressure.
    this.#socket.resume();
    this.#socket.close(closeCodes[code], Buffer.from(reason).subarray(0, maxReasonBytes).toString());
  }

  /** Closes without waiting for the client, which could send more. */
  #terminate(code: keyof typeof closeCodes, reason: string): void {
    this.close(code, reason);
    setImmediate(() => this.#socket.terminate());
  }
}

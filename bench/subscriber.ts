// A subscriber that takes little CPU time, so that the measurement shows the server. It implements as much of WebSocket
// as one subscription needs, and extracts the numbers of posts from the messages.

import { connect, type Socket } from "node:net";

const opcodeText = 0x81;
const mask = 0x80;
const [zero, nine] = [0x30, 0x39];
/** Precedes the number in a title. */
const titlePrefix = Buffer.from('"title":"n');
/** The length of the end of a message, after the number of the event. */
const endLength = '"}}}'.length;

export class Subscriber {
  /** Resolved when the subscription has been sent. */
  readonly ready: Promise<void>;
  isInOrder = true;
  readonly #socket: Socket;
  readonly #onEvent: (number: number, now: number) => void;
  #isOpen = false;
  #lastEvent = 0;
  /** The offset of the number in a frame: the same in all frames. */
  #titleOffset = 0;
  /** The beginning of an incomplete frame. */
  #rest: Buffer | undefined;

  /** @param onEvent receives the number in each title, `n12.`, and the time of its arrival */
  constructor(url: string, key: string, query: string, onEvent: (number: number, now: number) => void) {
    const { hostname, port, host } = new URL(url);
    this.#onEvent = onEvent;
    const opened = Promise.withResolvers<void>();
    this.ready = opened.promise;
    this.#socket = connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      onread: {
        buffer: shared,
        callback: (size) => {
          const received = shared.subarray(0, size);
          if (this.#isOpen) this.#receive(received);
          else this.#open(received.toString("latin1"), key, query, opened.resolve);
          return true;
        },
      },
    });
    this.#socket.once("error", opened.reject);
    this.#socket.write(
      `GET /graphql HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n" +
        "Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n",
    );
  }

  close(): void {
    this.#socket.destroy();
  }

  #open(received: string, key: string, query: string, opened: () => void): void {
    if (received.startsWith("HTTP/1.1 101"))
      this.#send({ type: "connection_init", payload: { authorization: `Bearer ${key}` } });
    if (!received.includes("connection_ack")) return;
    this.#isOpen = true;
    this.#send({ id: crypto.randomUUID(), type: "subscribe", payload: { query } });
    opened();
  }

  #receive(received: Buffer): void {
    const now = performance.now();
    const bytes = this.#rest ? Buffer.concat([this.#rest, received]) : received;
    let offset = 0;
    while (offset + 4 <= bytes.length) {
      // Events are longer than 125 bytes and shorter than 65,536; pings of the server are empty.
      const isLong = bytes[offset + 1] === 126;
      const end = isLong ? offset + 4 + bytes.readUInt16BE(offset + 2) : offset + 2 + bytes[offset + 1]!;
      if (end > bytes.length) break;
      if (isLong) this.#read(bytes, offset, end, now);
      offset = end;
    }
    this.#rest = offset < bytes.length ? Buffer.from(bytes.subarray(offset)) : undefined;
  }

  #read(bytes: Buffer, start: number, end: number, now: number): void {
    this.#titleOffset ||= bytes.indexOf(titlePrefix, start) + titlePrefix.length - start;
    this.#onEvent(digitsAt(bytes, start + this.#titleOffset), now);
    let offset = end - endLength;
    while (isDigit(bytes[offset - 1])) offset -= 1;
    const event = digitsAt(bytes, offset);
    if (event <= this.#lastEvent) this.isInOrder = false;
    this.#lastEvent = event;
  }

  /** Short messages of a client, masked with zeros (RFC 6455, section 5.3). */
  #send(message: object): void {
    const payload = Buffer.from(JSON.stringify(message));
    const header = Buffer.from([
      opcodeText,
      mask | 126,
      payload.length >> 8,
      payload.length & 255,
      0,
      0,
      0,
      0,
    ]);
    const isShort = payload.length < 126;
    const short = Buffer.from([opcodeText, mask | payload.length, 0, 0, 0, 0]);
    this.#socket.write(Buffer.concat([isShort ? short : header, payload]));
  }
}

/** The read buffer of all connections. */
const shared = Buffer.alloc(64 * 1024);

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= nine;
}

function digitsAt(bytes: Buffer, start: number): number {
  let number = 0;
  for (let index = start; isDigit(bytes[index]); index += 1) number = number * 10 + bytes[index]! - zero;
  return number;
}

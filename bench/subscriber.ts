// A subscriber that costs little, so that what is measured is the server: it speaks just enough of WebSocket to
// subscribe once, and looks for the numbers of posts in what it receives.

import { connect, type Socket } from "node:net";

const opcodeText = 0x81;
const mask = 0x80;
const [zero, nine] = [0x30, 0x39];
/** What a number in a title stands behind. */
const mark = Buffer.from('"title":"n');
/** What an answer ends with, behind the number of the event. */
const endLength = '"}}}'.length;

export class Subscriber {
  /** Whether the subscription was sent. */
  readonly ready: Promise<void>;
  isInOrder = true;
  readonly #socket: Socket;
  readonly #take: (number: number, now: number) => void;
  #isOpen = false;
  #lastEvent = 0;
  /** Where the title stands in a frame: the same in all of them. */
  #titleAt = 0;
  /** The beginning of a frame whose end is still to come. */
  #rest: Buffer | undefined;

  /** @param take is given the number in each title, `n12.`, and when it came */
  constructor(url: string, key: string, query: string, take: (number: number, now: number) => void) {
    const { hostname, port, host } = new URL(url);
    this.#take = take;
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
          if (this.#isOpen) this.#look(received);
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

  #look(received: Buffer): void {
    const now = performance.now();
    const bytes = this.#rest ? Buffer.concat([this.#rest, received]) : received;
    let place = 0;
    while (place + 4 <= bytes.length) {
      // Answers are longer than 125 bytes and shorter than 65,536; pings of the server have no content.
      const isLong = bytes[place + 1] === 126;
      const end = isLong ? place + 4 + bytes.readUInt16BE(place + 2) : place + 2 + bytes[place + 1]!;
      if (end > bytes.length) break;
      if (isLong) this.#read(bytes, place, end, now);
      place = end;
    }
    this.#rest = place < bytes.length ? Buffer.from(bytes.subarray(place)) : undefined;
  }

  #read(bytes: Buffer, start: number, end: number, now: number): void {
    this.#titleAt ||= bytes.indexOf(mark, start) + mark.length - start;
    this.#take(digitsAt(bytes, start + this.#titleAt), now);
    let place = end - endLength;
    while (isDigit(bytes[place - 1])) place -= 1;
    const event = digitsAt(bytes, place);
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

/** All connections are read into it, one after another. */
const shared = Buffer.alloc(64 * 1024);

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= nine;
}

function digitsAt(bytes: Buffer, start: number): number {
  let number = 0;
  for (let place = start; isDigit(bytes[place]); place += 1) number = number * 10 + bytes[place]! - zero;
  return number;
}

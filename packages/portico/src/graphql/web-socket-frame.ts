// Text frames of WebSocket as a server sends them (RFC 6455, section 5.2), many in one piece: the messages of one look
// at the events leave together, and a text that goes to many connections is encoded once.

import type { Message } from "./subscriber-group.ts";

const finalText = 0x81;
const longestInOne = 125;
const longestInTwo = 0xffff;

/** `{"id":"1","type":"next","payload":`, and what closes it. */
export function nextPrefix(id: string): Buffer {
  return Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`);
}
const suffix = Buffer.from("}");

/** Texts of messages as bytes; they go to many connections. */
const encoded = new WeakMap<Message, Buffer>();

function bytesOf(message: Message): Buffer {
  const known = encoded.get(message);
  if (known) return known;
  const made = Buffer.from(message.text);
  encoded.set(message, made);
  return made;
}

/** A frame for each message, one behind the other. */
export function framesOf(prefix: Buffer, messages: readonly Message[]): Buffer {
  let total = 0;
  for (const message of messages) {
    const length = prefix.length + bytesOf(message).length + suffix.length;
    total += headerLength(length) + length;
  }
  const frames = Buffer.allocUnsafe(total);
  let place = 0;
  for (const message of messages) {
    const bytes = bytesOf(message);
    place = writeHeader(frames, place, prefix.length + bytes.length + suffix.length);
    for (const part of [prefix, bytes, suffix]) place += part.copy(frames, place);
  }
  return frames;
}

function headerLength(length: number): number {
  if (length <= longestInOne) return 2;
  return length <= longestInTwo ? 4 : 10;
}

/** @returns where the payload begins */
function writeHeader(frames: Buffer, place: number, length: number): number {
  frames[place] = finalText;
  if (length <= longestInOne) {
    frames[place + 1] = length;
    return place + 2;
  }
  if (length <= longestInTwo) {
    frames[place + 1] = 126;
    return frames.writeUInt16BE(length, place + 2);
  }
  frames[place + 1] = 127;
  return frames.writeBigUInt64BE(BigInt(length), place + 2);
}

// Encodes text frames of WebSocket as a server sends them (RFC 6455, section 5.2). Several frames are encoded into one
// buffer, and a text that is sent to many connections is encoded once.

import type { Message } from "../../subscriptions/result-sink.ts";

/** FIN, with the opcode of a text frame. */
const finalText = 0x81;
const maxOneByteLength = 125;
const maxTwoByteLength = 0xffff;

/** `{"id":"1","type":"next","payload":`, which `suffix` closes. */
export function nextPrefix(id: string): Buffer {
  return Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`);
}
const suffix = Buffer.from("}");

/** The bytes of messages. The same message is sent to many connections. */
const encoded = new WeakMap<Message, Buffer>();

function bytesOf(message: Message): Buffer {
  const cached = encoded.get(message);
  if (cached) return cached;
  const bytes = Buffer.from(message.text);
  encoded.set(message, bytes);
  return bytes;
}

/** One frame for each message. */
export function framesOf(prefix: Buffer, messages: readonly Message[]): Buffer {
  let total = 0;
  for (const message of messages) {
    const length = prefix.length + bytesOf(message).length + suffix.length;
    total += headerLength(length) + length;
  }
  const frames = Buffer.allocUnsafe(total);
  let offset = 0;
  for (const message of messages) {
    const bytes = bytesOf(message);
    offset = writeHeader(frames, offset, prefix.length + bytes.length + suffix.length);
    for (const part of [prefix, bytes, suffix]) offset += part.copy(frames, offset);
  }
  return frames;
}

function headerLength(length: number): number {
  if (length <= maxOneByteLength) return 2;
  return length <= maxTwoByteLength ? 4 : 10;
}

/** @returns the offset of the payload */
function writeHeader(frames: Buffer, offset: number, length: number): number {
  frames[offset] = finalText;
  if (length <= maxOneByteLength) {
    frames[offset + 1] = length;
    return offset + 2;
  }
  if (length <= maxTwoByteLength) {
    frames[offset + 1] = 126;
    return frames.writeUInt16BE(length, offset + 2);
  }
  frames[offset + 1] = 127;
  return frames.writeBigUInt64BE(BigInt(length), offset + 2);
}

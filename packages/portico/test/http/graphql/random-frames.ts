// Random stream clients, from a seed: valid and invalid WebSocket frames with valid and invalid messages in any order, and
// requests for server-sent events.

import { randomBytes } from "node:crypto";
import { jsonTexts } from "../../support/odd-values.ts";

/** A seeded random number generator (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  isOnce(outOf: number): boolean {
    return this.below(outOf) === 0;
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.below(256)));
  }
}

const documents: readonly string[] = [
  "subscription { postCreated { id title } }",
  "subscription { postCreated { id title author { name } } }",
  'subscription { commentCreated(postId: "post_00000000000000000000000000") { id } }',
  "subscription ($v: String) { postUpdated(id: $v) { id } }",
  "{ __typename }",
  "{ posts(limit: 3) { id title author { name } } }",
  "query A { __typename } query B { __typename }",
  'mutation { createPost(input: { title: "Random" }) { id } }',
  'mutation { deletePost(id: "post_00000000000000000000000000") { id } }',
  "{ __schema { types { name fields { name } } } }",
  "subscription { postCreated { nothing } }",
  "{ ...F } fragment F on Query { ...F }",
  "",
  "}",
];
const types = ["connection_init", "subscribe", "complete", "ping", "pong"] as const;
const ids = ["1", "2", "3", "4", "5"];
/** Names and values that code often forgets to validate, such as members of Object.prototype. */
const poison = ['{"toString":1,"valueOf":1}', '{"then":1}', '{"__proto__":null}', "null", "[]", "1", '""'];

/** A random value as JSON text. */
function anyValue(random: Random): string {
  const value = random.isOnce(2) ? random.of(poison) : random.of(jsonTexts);
  return value.length < 5_000 || random.isOnce(20) ? value : "0";
}

/** An object as JSON text. Some members are replaced, omitted or repeated. */
function altered(random: Random, members: Readonly<Record<string, string>>, oneIn: number): string {
  const written = Object.entries(members).flatMap(([name, value]) => {
    if (random.isOnce(oneIn)) return random.isOnce(4) ? [] : [`"${name}":${anyValue(random)}`];
    return [`"${name}":${value}`];
  });
  if (random.isOnce(oneIn * 4))
    written.push(`"${random.of(["x", "__proto__", "id", "type", "payload"])}":${anyValue(random)}`);
  return `{${written.join()}}`;
}

/** A GraphQL request as JSON text: the payload of `subscribe`, or a request body. */
export function graphqlRequest(random: Random): string {
  const optional = {
    ...(random.isOnce(4) && { operationName: random.of(["null", '"A"', '"B"']) }),
    ...(random.isOnce(3) && {
      variables: random.of(["null", "{}", '{"v":"post_00000000000000000000000000"}']),
    }),
    ...(random.isOnce(3) && {
      extensions: `{"lastEventId":${random.of(['"0"', '"1"', "3", '"999999"', anyValue(random)])}}`,
    }),
  };
  return altered(random, { query: JSON.stringify(random.of(documents)), ...optional }, 12);
}

/** A message as JSON text. Most are valid. */
export function message(random: Random, key: string): string {
  if (random.isOnce(25))
    return random.of([anyValue(random), "{", "", "\u0000", '"\\ud800"', "{}".repeat(50)]);
  const type = random.of(types);
  const members: Record<string, string> = { type: `"${type}"` };
  if (type === "subscribe" || type === "complete") members["id"] = JSON.stringify(random.of(ids));
  if (type === "subscribe") members["payload"] = graphqlRequest(random);
  if (type === "connection_init")
    members["payload"] = altered(random, { authorization: JSON.stringify(`Bearer ${key}`) }, 6);
  if ((type === "ping" || type === "pong") && random.isOnce(2)) members["payload"] = anyValue(random);
  return altered(random, members, 15);
}

/** A valid `connection_init`. */
export function initialisation(key: string): string {
  return JSON.stringify({ type: "connection_init", payload: { authorization: `Bearer ${key}` } });
}

const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

interface FrameOptions {
  readonly isLast?: boolean;
  readonly isMasked?: boolean;
  readonly reserved?: number;
  /** The length in the header, if it differs from that of the payload. */
  readonly length?: bigint;
}

/** RFC 6455, section 5.2 */
export function frame(opcode: number, payload: Buffer, options: FrameOptions = {}): Buffer {
  const { isLast = true, isMasked = true, reserved = 0, length = BigInt(payload.length) } = options;
  const first = (isLast ? 0x80 : 0) | (reserved << 4) | opcode;
  const mask = isMasked ? 0x80 : 0;
  const head =
    length < 126n
      ? Buffer.from([first, mask | Number(length)])
      : length < 65_536n
        ? Buffer.from([first, mask | 126, Number(length >> 8n), Number(length & 255n)])
        : Buffer.concat([Buffer.from([first, mask | 127]), bigLength(length)]);
  if (!isMasked) return Buffer.concat([head, payload]);
  const key = randomBytes(4);
  return Buffer.concat([head, key, payload.map((byte, at) => byte ^ key[at % 4]!)]);
}

function bigLength(length: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(length);
  return bytes;
}

/** A text message in one frame, or in fragments with control frames between them. */
export function textFrames(random: Random, text: string): Buffer {
  const bytes = Buffer.from(text);
  if (!random.isOnce(6)) return frame(opcodes.text, bytes);
  const pieces: Buffer[] = [];
  const count = 2 + random.below(4);
  for (let piece = 0; piece < count; piece += 1) {
    const part = bytes.subarray((bytes.length * piece) / count, (bytes.length * (piece + 1)) / count);
    const opcode = piece === 0 ? opcodes.text : opcodes.continuation;
    pieces.push(frame(opcode, part, { isLast: piece === count - 1 }));
    if (random.isOnce(3)) pieces.push(frame(opcodes.ping, random.bytes(random.below(20))));
  }
  return Buffer.concat(pieces);
}

const closeCodes = [0, 999, 1000, 1001, 1004, 1005, 1006, 1015, 2999, 3000, 4000, 4999, 5000, 65_535];

/** A frame that violates the WebSocket protocol, or closes the connection. */
export function oddFrame(random: Random): Buffer {
  const payload = random.bytes(random.below(60));
  const huge = random.of([2n ** 20n, 2n ** 20n + 1n, 2n ** 31n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n]);
  const kinds: readonly (() => Buffer)[] = [
    () => frame(opcodes.binary, payload),
    () => frame(opcodes.text, Buffer.from([0xff, 0xfe, 0xc0, 0x80])),
    () => frame(opcodes.ping, random.bytes(random.below(126))),
    () => frame(opcodes.pong, random.bytes(random.below(126))),
    () => frame(opcodes.ping, random.bytes(126 + random.below(100))),
    () => frame(opcodes.close, closePayload(random)),
    () => frame(opcodes.continuation, payload),
    () => frame(opcodes.text, payload, { isLast: false }),
    () => frame(opcodes.text, payload, { isMasked: false }),
    () => frame(opcodes.text, payload, { reserved: 1 + random.below(7) }),
    () => frame(random.of([3, 4, 7, 11, 15]), payload),
    () => frame(opcodes.text, payload, { length: huge }),
    () => random.bytes(1 + random.below(200)),
    () => Buffer.concat(Array.from({ length: 20 }, () => frame(opcodes.ping, payload))),
  ];
  return random.of(kinds)();
}

function closePayload(random: Random): Buffer {
  if (random.isOnce(4)) return random.bytes(random.below(3));
  const code = Buffer.alloc(2);
  code.writeUInt16BE(random.of(closeCodes));
  return Buffer.concat([code, random.isOnce(3) ? Buffer.from([0xff, 0xc0]) : Buffer.from("bye")]);
}

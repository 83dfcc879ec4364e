// The answer to one operation as server-sent events (graphql-sse, distinct connections mode): `next` for each result,
// `complete` at the end. The id of an event is its place, from which a client goes on with Last-Event-ID.

import type { ServerResponse } from "node:http";
import type { GraphQLFormattedError } from "graphql";
import { Problem } from "../../errors.ts";
import type { Message } from "../../subscriptions/group.ts";
import { failureOf } from "../execute/failure.ts";
import type { ResultSink } from "../subscriptions/streamed-operation.ts";

/** A client that reads nothing of what is left gets no longer. */
const closeTimeoutMs = 2_000;

/** The same messages go to many streams. */
const encoded = new WeakMap<readonly Message[], Buffer>();

function bytesOf(messages: readonly Message[]): Buffer {
  const cached = encoded.get(messages);
  if (cached) return cached;
  const bytes = Buffer.from(messages.map(({ sequence, text }) => `id: ${sequence}\n${next(text)}`).join(""));
  encoded.set(messages, bytes);
  return bytes;
}

export class EventStream implements ResultSink {
  readonly #response: ServerResponse;
  #isEnded = false;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get pendingBytes(): number {
    return this.#response.writableLength;
  }

  /** There is no other operation to wait for. */
  inTurn(work: () => Promise<void>): Promise<void> {
    return work();
  }

  send(messages: readonly Message[]): void {
    this.#write(bytesOf(messages));
  }

  sendResult(text: string): void {
    this.#write(`${next(text)}event: complete\ndata:\n\n`);
    this.#end();
  }

  refuse(errors: readonly GraphQLFormattedError[]): void {
    this.sendResult(JSON.stringify({ errors }));
  }

  forbid(problem: Problem): void {
    this.refuse([failureOf(problem).formatted]);
  }

  endTooSlow(): void {
    this.forbid(new Problem("unavailable", "The events were read too slowly. Go on with Last-Event-ID."));
  }

  restart(): void {
    this.forbid(new Problem("unavailable", "The server restarts. Go on with Last-Event-ID."));
  }

  /** A comment, which clients pass over. */
  heartbeat(): void {
    this.#write(":\n\n");
  }

  #write(bytes: string | Buffer): void {
    if (!this.#isEnded && this.#response.writable) this.#response.write(bytes);
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#response.end();
    const timeout = setTimeout(() => this.#response.destroy(), closeTimeoutMs);
    this.#response.once("close", () => clearTimeout(timeout));
  }
}

/** Line breaks of JSON stand between values only. */
function next(text: string): string {
  return `event: next\ndata: ${text.replaceAll("\n", " ")}\n\n`;
}

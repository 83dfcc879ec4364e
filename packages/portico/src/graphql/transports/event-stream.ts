// The response to one operation as server-sent events (graphql-sse, distinct connections mode): `next` for each result,
// then `complete`. The id of an event is its position, from which a client resumes with Last-Event-ID.

import type { ServerResponse } from "node:http";
import type { GraphQLFormattedError } from "graphql";
import { Problem } from "../../errors.ts";
import type { Message } from "../../subscriptions/result-sink.ts";
import { failureOf } from "../execute/failure.ts";
import type { OperationSink } from "../subscriptions/operation-sink.ts";

/** Time for a client to read the rest of an ended stream. */
const closeTimeoutMs = 2_000;

/** The bytes of messages. The same messages are sent to many streams. */
const encoded = new WeakMap<readonly Message[], Buffer>();

function bytesOf(messages: readonly Message[]): Buffer {
  const cached = encoded.get(messages);
  if (cached) return cached;
  const bytes = Buffer.from(messages.map(({ position, text }) => `id: ${position}\n${next(text)}`).join(""));
  encoded.set(messages, bytes);
  return bytes;
}

export class EventStream implements OperationSink {
  readonly #response: ServerResponse;
  #isEnded = false;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get pendingBytes(): number {
    return this.#response.writableLength;
  }

  /** Runs at once: a stream has one operation only. */
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

  sendErrors(errors: readonly GraphQLFormattedError[]): void {
    this.sendResult(JSON.stringify({ errors }));
  }

  revoke(problem: Problem): void {
    this.sendErrors([failureOf(problem).formatted]);
  }

  endTooSlow(): void {
    this.revoke(new Problem("unavailable", "The events were read too slowly. Resume with Last-Event-ID."));
  }

  restart(): void {
    this.revoke(new Problem("unavailable", "The server is restarting. Resume with Last-Event-ID."));
  }

  /** Sends a comment, which clients ignore. */
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

/** In JSON, line breaks can only separate values: they are escaped within strings. */
function next(text: string): string {
  return `event: next\ndata: ${text.replaceAll("\n", " ")}\n\n`;
}

// A receiver of webhooks on this machine, which keeps what it got and answers as a test says.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import type { Answer } from "./server.ts";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read any member; a missing one makes them fail.
  readonly body: any;
}

/** Answers a request; by default with the status 204. */
export type Respond = (response: ServerResponse, received: Received) => void;

export class WebhookReceiver {
  readonly #server: Server;
  readonly received: Received[] = [];
  respond: Respond = (response) => void response.writeHead(204).end();
  #waiting: (() => void)[] = [];

  constructor() {
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      const { url: path = "/", headers } = request;
      const received = { path, headers, text, body: JSON.parse(text) };
      this.received.push(received);
      for (const wake of this.#waiting.splice(0)) wake();
      this.respond(response, received);
    });
  }

  async start(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What was received at a path. */
  at(path: string): readonly Received[] {
    return this.received.filter((each) => each.path === path);
  }

  /** Waits until a path has received a number of requests. @throws Error after 20 seconds */
  async waitFor(path: string, count = 1): Promise<readonly Received[]> {
    await this.waitUntil(
      () => this.at(path).length >= count,
      20_000,
      () => `${this.at(path).length} at ${path}`,
    );
    return this.at(path);
  }

  /** @throws Error after a time */
  async waitUntil(
    holds: (all: readonly Received[]) => boolean,
    timeoutMs = 120_000,
    state = () => `${this.received.length} in all`,
  ): Promise<void> {
    const end = Date.now() + timeoutMs;
    while (!holds(this.received)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      const timeout = setTimeout(resolve, Math.max(0, end - Date.now()));
      await promise;
      clearTimeout(timeout);
      if (Date.now() >= end && !holds(this.received)) throw new Error(`received too little: ${state()}`);
    }
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** Verifies a request as a consumer does. @throws Error for an invalid signature */
export function verify(secret: string, { text, headers }: Received): unknown {
  return new Webhook(secret).verify(text, headers as Record<string, string>);
}

/** Reads until a condition holds. @throws AssertionError after 20 seconds */
export async function until<Input>(
  read: (input: Input) => Promise<Answer["body"]>,
  input: Input,
  holds: (value: Answer["body"]) => boolean,
): Promise<Answer["body"]> {
  for (const end = Date.now() + 20_000; ; await sleep(25)) {
    const value = await read(input);
    if (holds(value)) return value;
    assert.ok(Date.now() < end, `still ${JSON.stringify(value)}`);
  }
}

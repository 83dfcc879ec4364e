// A client of server-sent events, based on fetch.

import assert from "node:assert/strict";
import type { Portico } from "../server.ts";

export interface StreamEvent {
  readonly id: string | undefined;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests access results freely; a missing member fails the test.
  readonly body: any;
}

export interface StreamOptions {
  readonly key?: string;
  readonly variables?: object;
  readonly extensions?: object;
  readonly headers?: Record<string, string>;
}

const timeoutMs = 15_000;

export class TestStream {
  readonly response: Response;
  readonly events: StreamEvent[] = [];
  /** All received text, including comments. */
  text = "";
  isClosed = false;
  readonly #abort: AbortController;
  #wake: () => void = () => {};

  private constructor(response: Response, abort: AbortController) {
    this.response = response;
    this.#abort = abort;
    void this.#read();
  }

  static async open(
    server: Pick<Portico, "url" | "key">,
    query: string,
    { key = server.key, variables, extensions, headers = {} }: StreamOptions = {},
  ): Promise<TestStream> {
    const abort = new AbortController();
    const response = await fetch(`${server.url}/graphql`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        accept: "text/event-stream",
        ...headers,
      },
      body: JSON.stringify({ query, variables, extensions }),
      signal: abort.signal,
    });
    assert.equal(response.status, 200);
    assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/);
    return new TestStream(response, abort);
  }

  /** Waits for a number of results. @returns all results so far */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  async results(count: number): Promise<any[]> {
    await this.#until(() => this.allResults.length >= count);
    return this.allResults;
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above.
  get allResults(): any[] {
    return this.events.filter(({ event }) => event === "next").map(({ body }) => body);
  }

  /** Waits until the server has ended the stream. */
  async ended(): Promise<void> {
    await this.#until(() => this.isClosed);
  }

  close(): void {
    this.#abort.abort();
  }

  async #until(isReached: () => boolean): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    while (!isReached()) {
      if (Date.now() > deadline) throw new Error(`nothing more came; so far: ${this.text}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        setTimeout(resolve, 100);
      });
    }
  }

  async #read(): Promise<void> {
    try {
      const decoder = new TextDecoder();
      for await (const bytes of this.response.body!) this.#take(decoder.decode(bytes, { stream: true }));
    } catch {
      // Either side has closed the connection.
    }
    this.isClosed = true;
    this.#wake();
  }

  #rest = "";

  #take(text: string): void {
    this.text += text;
    const parts = (this.#rest + text).split("\n\n");
    this.#rest = parts.pop()!;
    for (const part of parts) {
      const lines = part.split("\n").map((line) => line.split(/: ?(.*)/s));
      const field = (name: string): string | undefined => lines.find(([each]) => each === name)?.[1];
      const event = field("event");
      if (event === undefined) continue;
      const content = field("data");
      this.events.push({ id: field("id"), event, body: content ? JSON.parse(content) : undefined });
    }
    this.#wake();
  }
}

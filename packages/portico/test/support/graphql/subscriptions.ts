// Helpers for tests of subscriptions.

import { setTimeout as sleep } from "node:timers/promises";
import type { Portico } from "../server.ts";
import { TestStream } from "./event-stream.ts";

export const createdPosts = "subscription { postCreated { id title } }";

/** Opens a stream, runs `work`, and closes the stream. */
export async function withStream(
  server: Pick<Portico, "url" | "key">,
  query: string,
  options: Parameters<typeof TestStream.open>[2],
  work: (stream: TestStream) => Promise<void>,
): Promise<void> {
  const stream = await TestStream.open(server, query, options);
  try {
    await work(stream);
  } finally {
    stream.close();
  }
}

/** Waits until a subscription over WebSocket has started. The protocol does not report it. */
export const subscriptionStarted = (): Promise<void> => sleep(50);

export const titlesOf = (results: readonly { data: Record<string, { title: string }> }[]): string[] =>
  results.map(({ data }) => Object.values(data)[0]!.title);

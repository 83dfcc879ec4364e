// Sends the responses to requests that were received together in one batch. Sent one by one, each would wake up the
// process that reads it, which costs the system more than the rest of a small request; in a batch only the first does.

import type { FastifyInstance } from "fastify";

/** Limits of a batch; it is sent when either is reached. */
const maxResponses = 64;
const maxCharacters = 1024 * 1024;
/** Longer texts are sent as bytes: Node would join the head and a text, and keep both in memory until they are read. */
const maxTextLength = 64 * 1024;

/**
 * Call it after all other hooks that read a response.
 *
 * @param onResponse receives the length of each response
 */
export function batchResponses(server: FastifyInstance, onResponse: (length: number) => void): void {
  let batch: (() => void)[] = [];
  let characters = 0;
  const flush = (): void => {
    const scheduled = batch;
    batch = [];
    characters = 0;
    for (const send of scheduled) send();
  };
  server.addHook("onSend", (_request, _reply, original, done) => {
    const payload =
      typeof original === "string" && original.length > maxTextLength ? Buffer.from(original) : original;
    if (typeof payload === "string" || Buffer.isBuffer(payload)) {
      characters += payload.length;
      onResponse(payload.length);
    }
    const count = batch.push(() => done(null, payload));
    if (count >= maxResponses || characters >= maxCharacters) flush();
    // Before the event loop polls its sockets again.
    else if (count === 1) setImmediate(flush);
  });
}

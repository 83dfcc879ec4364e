// Answers to requests that were received together leave together. Sent one by one, each would find its reader
// asleep, and waking it costs the system more than the rest of a small request; sent in a row, only the first does.

import type { FastifyInstance } from "fastify";

/** What is held back at most: beyond either, all of it leaves at once. */
const maxResponses = 64;
const maxCharacters = 1024 * 1024;
/** Longer texts leave as bytes: Node would put the head before a text, and keep both while it waits to be read. */
const maxTextLength = 64 * 1024;

/**
 * Call it after all other hooks that see an answer.
 *
 * @param onResponse is told how long each is
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
    // Before the event loop looks at its sockets again.
    else if (count === 1) setImmediate(flush);
  });
}

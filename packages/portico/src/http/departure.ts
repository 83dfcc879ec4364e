// Answers to requests that were received together leave together. Sent one by one, each would find its reader
// asleep, and waking it costs the system more than the rest of a small request; sent in a row, only the first does.

import type { FastifyInstance } from "fastify";

/** What is held back at most: beyond either, all of it leaves at once. */
const mostAnswers = 64;
const mostCharacters = 1024 * 1024;
/** Longer texts leave as bytes: Node would put the head before a text, and keep both while it waits to be read. */
const longestText = 64 * 1024;

/**
 * Call it after all other hooks that see an answer.
 *
 * @param onAnswer is told how long each is
 */
export function sendTogether(server: FastifyInstance, onAnswer: (length: number) => void): void {
  let held: (() => void)[] = [];
  let characters = 0;
  const leave = (): void => {
    const leaving = held;
    held = [];
    characters = 0;
    for (const send of leaving) send();
  };
  server.addHook("onSend", (_request, _reply, given, done) => {
    const payload = typeof given === "string" && given.length > longestText ? Buffer.from(given) : given;
    if (typeof payload === "string" || Buffer.isBuffer(payload)) {
      characters += payload.length;
      onAnswer(payload.length);
    }
    const count = held.push(() => done(null, payload));
    if (count >= mostAnswers || characters >= mostCharacters) leave();
    // Before the event loop looks at its sockets again.
    else if (count === 1) setImmediate(leave);
  });
}

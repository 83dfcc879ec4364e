// Callers who ask before they send a body (RFC 9110, section 10.1.1): they are told to go on once nothing speaks against
// the request, so that what is refused is never sent.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";

/** Call it after the hooks that refuse requests. */
export function handleExpectContinue(server: FastifyInstance): void {
  /** Answers whose callers wait for 100, and whether they would keep their connection. */
  const waiting = new WeakMap<ServerResponse, boolean>();
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    server.server.emit("request", request, response);
  };
  // An expectation that is not known may be passed over.
  server.server.on("checkExpectation", serve);
  server.server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    waiting.set(response, response.shouldKeepAlive);
    // Whether a caller who was refused still sends its body is its own choice: nothing can be read behind it.
    response.shouldKeepAlive = false;
    serve(request, response);
  });
  server.addHook("preParsing", (_request, { raw }, payload, done) => {
    const isKept = waiting.get(raw);
    if (isKept !== undefined) {
      waiting.delete(raw);
      raw.shouldKeepAlive = isKept;
      raw.writeContinue();
    }
    done(null, payload);
  });
}

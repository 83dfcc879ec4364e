// `Expect: 100-continue` (RFC 9110, section 10.1.1): a caller waits for 100 before it sends a body. It is sent after all
// checks of the request, so the body of a refused request is never sent.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";

/** Call it after the hooks that refuse requests. */
export function handleExpectContinue(server: FastifyInstance): void {
  /** Responses whose callers wait for 100, each with whether its connection stays open. */
  const waiting = new WeakMap<ServerResponse, boolean>();
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    server.server.emit("request", request, response);
  };
  // Unknown expectations may be ignored.
  server.server.on("checkExpectation", serve);
  server.server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    waiting.set(response, response.shouldKeepAlive);
    // A refused caller may or may not send the body, so a next request could not be told apart from it.
    response.shouldKeepAlive = false;
    serve(request, response);
  });
  server.addHook("preParsing", (_request, { raw }, payload, done) => {
    const keepAlive = waiting.get(raw);
    if (keepAlive !== undefined) {
      waiting.delete(raw);
      raw.shouldKeepAlive = keepAlive;
      raw.writeContinue();
    }
    done(null, payload);
  });
}

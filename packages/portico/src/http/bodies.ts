// Bodies count as received until they are complete; where too much is being received, one that came slowly ends as 503.

import type { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { LoggedProblem } from "../errors.ts";
import type { ReceivedBytes } from "./received-bytes.ts";

/** Shorter ones are not counted: there are no more of them than connections. */
const minCountedBytes = 4 * 1024;

/** Call it after the hooks that refuse requests: what they refuse is not received. */
export function limitBodies(server: FastifyInstance, received: ReceivedBytes): void {
  server.addHook("preParsing", ({ raw: { headers } }, _reply, payload, done) => {
    if (Number(headers["content-length"]) >= minCountedBytes || headers["transfer-encoding"] !== undefined) {
      // An IncomingMessage, unless another hook had put something in its place.
      const body = payload as Readable;
      const receipt = received.begin(() =>
        body.emit(
          "error",
          new LoggedProblem("unavailable", "Too many bodies are being received. Send it again."),
        ),
      );
      let bytes = 0;
      // Whoever reads the body starts to do so before it flows: no hook behind this one waits.
      body.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        receipt.hold(bytes);
      });
      for (const end of ["end", "close", "error"]) body.once(end, () => receipt.end());
    }
    done(null, payload);
  });
}

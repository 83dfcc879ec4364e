// Counts the bodies that are being received. If they exceed the limit, the request with the oldest of them fails with 503.

import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { LoggedProblem } from "../errors.ts";
import type { ReceivedBytes } from "./received-bytes.ts";
import type { Route } from "./route.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether the handler reads the body as it arrives, with bounds of its own. */
    streamsBody?: boolean;
  }
}

/** Shorter bodies are not counted: there are no more of them than connections. */
const minCountedBytes = 4 * 1024;

/** Call it after the hooks that refuse requests, whose bodies are not received. */
export function limitBodies(server: FastifyInstance, received: ReceivedBytes): void {
  server.addHook("preParsing", ({ raw: { headers }, route }, _reply, payload, done) => {
    if (route.config.streamsBody || isForm(route, headers)) return done(null, payload);
    if (Number(headers["content-length"]) >= minCountedBytes || headers["transfer-encoding"] !== undefined) {
      // An IncomingMessage, because no other hook replaces it.
      const body = payload as Readable;
      const receipt = received.begin(() =>
        body.emit(
          "error",
          new LoggedProblem("unavailable", "Too many bodies are being received. Send it again."),
        ),
      );
      let bytes = 0;
      // This listener starts the flow. No data is lost, because no later hook waits before the body is read.
      body.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        receipt.update(bytes);
      });
      for (const end of ["end", "close", "error"]) body.once(end, () => receipt.end());
    }
    done(null, payload);
  });
}

/** Whether the body is a form with files, which are not kept in memory. */
function isForm({ config }: Route, headers: IncomingHttpHeaders): boolean {
  return config.takesForms !== undefined && headers["content-type"]?.startsWith("multipart/") === true;
}

// Bodies while they are received. Each is bounded by itself; here all of them together are, because a caller may send
// a body slowly: where they are too much, the one that has been under way longest ends as 503.

import type { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { LoggedProblem } from "../errors.ts";
import type { OverloadLog } from "./overload-log.ts";

/** Shorter ones are not counted: there are no more of them than connections. */
const countedFrom = 4 * 1024;

/** Call it after the hooks that refuse requests: what they refuse is not received. */
export function boundBodies(server: FastifyInstance, maxBytes: number, overloads: OverloadLog): void {
  const underWay = new Map<Readable, number>();
  let total = 0;
  const forget = (body: Readable): void => {
    total -= underWay.get(body) ?? 0;
    underWay.delete(body);
  };
  const count = (body: Readable, bytes: number): void => {
    const known = underWay.get(body);
    if (known === undefined) return;
    underWay.set(body, known + bytes);
    total += bytes;
    if (total <= maxBytes) return;
    // Not the youngest, also where it is the largest: whoever sends at once is through in a moment.
    const [oldest] = underWay.keys();
    forget(oldest!);
    overloads.count("bodiesRefused");
    oldest!.emit(
      "error",
      new LoggedProblem("unavailable", "Too many bodies are being received. Send it again."),
    );
  };
  server.addHook("preParsing", ({ raw: { headers } }, _reply, payload, done) => {
    if (Number(headers["content-length"]) >= countedFrom || headers["transfer-encoding"] !== undefined) {
      // An IncomingMessage, unless another hook had put something in its place.
      const body = payload as Readable;
      underWay.set(body, 0);
      // Whoever reads the body starts to do so before it flows: no hook behind this one waits.
      body.on("data", (chunk: Buffer) => count(body, chunk.length));
      for (const end of ["end", "close", "error"]) body.once(end, () => forget(body));
    }
    done(null, payload);
  });
}

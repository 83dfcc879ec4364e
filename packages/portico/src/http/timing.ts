// `Server-Timing` (W3C), for those who look into speed: how long each stage of a request took, in milliseconds.

import type { FastifyInstance, FastifyRequest } from "fastify";

const marks = new WeakMap<FastifyRequest, { started: number; stages: string[]; last: number }>();

function mark(request: FastifyRequest, stage: string): void {
  const found = marks.get(request);
  if (!found) return;
  const now = performance.now();
  found.stages.push(`${stage};dur=${(now - found.last).toFixed(3)}`);
  found.last = now;
}

/** Starts the clock. Call it before the hooks whose time is to be seen. */
export function startTiming(server: FastifyInstance): void {
  server.addHook("onRequest", (request, _reply, done) => {
    const now = performance.now();
    marks.set(request, { started: now, stages: [], last: now });
    done();
  });
}

/** Takes the times of the stages and sends them. Call it after all other hooks. */
export function reportTiming(server: FastifyInstance): void {
  server.addHook("preParsing", (request, _reply, _payload, done) => {
    mark(request, "identify");
    done();
  });
  server.addHook("preHandler", (request, _reply, done) => {
    mark(request, "receive");
    done();
  });
  server.addHook("onSend", (request, reply, _payload, done) => {
    mark(request, "answer");
    const found = marks.get(request);
    if (found) {
      const total = (performance.now() - found.started).toFixed(3);
      reply.header("Server-Timing", [...found.stages, `total;dur=${total}`].join(", "));
    }
    done();
  });
}

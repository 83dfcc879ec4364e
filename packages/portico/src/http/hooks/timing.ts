// Sends `Server-Timing` (W3C): how long each stage of a request took, in milliseconds.

import type { FastifyInstance, FastifyRequest } from "fastify";

const timings = new WeakMap<FastifyRequest, { started: number; stages: string[]; last: number }>();

function addStage(request: FastifyRequest, stage: string): void {
  const timing = timings.get(request);
  if (!timing) return;
  const now = performance.now();
  timing.stages.push(`${stage};dur=${(now - timing.last).toFixed(3)}`);
  timing.last = now;
}

/** Starts measuring. Call it before the hooks to measure. */
export function startTiming(server: FastifyInstance): void {
  server.addHook("onRequest", (request, _reply, done) => {
    const now = performance.now();
    timings.set(request, { started: now, stages: [], last: now });
    done();
  });
}

/** Measures the stages and sends their times. Call it after all other hooks. */
export function reportTiming(server: FastifyInstance): void {
  server.addHook("preParsing", (request, _reply, _payload, done) => {
    addStage(request, "identify");
    done();
  });
  server.addHook("preHandler", (request, _reply, done) => {
    addStage(request, "receive");
    done();
  });
  server.addHook("onSend", (request, reply, _payload, done) => {
    addStage(request, "answer");
    const timing = timings.get(request);
    if (timing) {
      const total = (performance.now() - timing.started).toFixed(3);
      reply.header("Server-Timing", [...timing.stages, `total;dur=${total}`].join(", "));
    }
    done();
  });
}

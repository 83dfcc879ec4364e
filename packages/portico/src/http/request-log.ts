// One line for each request: who, what, how long. Never bodies, headers or queries. Lines are written a few
// hundredths of a second later, many together: one by one they took a noticeable part of a request's time.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Log, RequestLine } from "./log.ts";

/** How long a line may wait for others. */
const patienceMs = 20;

export function logRequests(server: FastifyInstance, { writeRequests }: Log): void {
  if (!writeRequests) return;
  let waiting: RequestLine[] = [];
  const write = (): void => {
    if (waiting.length > 0) writeRequests(waiting);
    waiting = [];
  };
  server.addHook("onResponse", (request, reply, done) => {
    if (waiting.push(lineOf(request, reply)) === 1) setTimeout(write, patienceMs);
    done();
  });
  server.addHook("onClose", async () => write());
}

/** The route is the pattern, `/posts/:id`; there is none where nothing is at the path. */
function lineOf(request: FastifyRequest, reply: FastifyReply): RequestLine {
  const { url, caller } = request;
  const query = url.indexOf("?");
  return {
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url,
    path: query < 0 ? url : url.slice(0, query),
    status: reply.statusCode,
    durationMs: Math.round(reply.elapsedTime * 1000) / 1000,
    keyId: caller?.credentialId,
    tenantId: caller?.tenantId,
  };
}

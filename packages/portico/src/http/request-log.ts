// One line for each request: who, what, how long. Never bodies, headers or queries. Lines are written a few
// hundredths of a second later, many together: one by one, each cost as much as the SQL of a row.

import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** How long a line may wait for others. */
const patienceMs = 20;

interface Line {
  readonly requestId: string;
  readonly method: string;
  /** The pattern: `/posts/:id`; none where nothing is at the path. */
  readonly route: string | undefined;
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  readonly keyId: string | undefined;
  readonly tenantId: string | undefined;
}

export function logRequests(server: FastifyInstance): void {
  const waiting = new WaitingLines(server.log);
  server.addHook("onResponse", (request, reply, done) => {
    waiting.add(lineOf(request, reply));
    done();
  });
  server.addHook("onClose", async () => waiting.write());
}

class WaitingLines {
  readonly #log: FastifyBaseLogger;
  #lines: Line[] = [];

  constructor(log: FastifyBaseLogger) {
    this.#log = log;
  }

  add(line: Line): void {
    if (this.#lines.push(line) === 1) setTimeout(() => this.write(), patienceMs);
  }

  write(): void {
    const lines = this.#lines;
    this.#lines = [];
    for (const line of lines) this.#log.info(line, "request");
  }
}

function lineOf(request: FastifyRequest, reply: FastifyReply): Line {
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

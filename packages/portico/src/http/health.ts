// Health checks: `/healthz` for the process, `/readyz` for its database as well.

import type { FastifyInstance } from "fastify";
import { LoggedProblem } from "../errors.ts";
import type { Database, Statement } from "../store/database.ts";

const ping: Statement<undefined> = { sql: "select 1", bind: () => [] };

export function registerHealth(server: FastifyInstance, database: Database): void {
  server.get("/healthz", async () => ({ status: "ok" }));
  server.get("/readyz", async (request) => {
    try {
      await database.query(ping, undefined);
    } catch (error) {
      if (!(error instanceof LoggedProblem))
        request.log.error({ requestId: request.id, err: error }, "the database does not respond");
      throw new LoggedProblem("unavailable", "The database does not answer.");
    }
    return { status: "ok" };
  });
}

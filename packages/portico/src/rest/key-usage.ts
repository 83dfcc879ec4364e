// `GET /v1/api-keys/{id}/usage`: how often a key was used.

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { AskedUsage } from "../engine/key-usage.ts";
import { FaultyInput } from "../engine/validate.ts";
import type { Fault } from "../errors.ts";
import { parseQuery, type Query } from "../plan/query.ts";
import type { RestDoor } from "./routes.ts";

type Request = FastifyRequest<{ Params: { readonly id: string } }>;

/** @param versions the paths under which API keys stand: `/v1` */
export function registerKeyUsage(
  server: FastifyInstance,
  { engine, callerOf }: RestDoor,
  versions: readonly string[],
): void {
  const usage = async (request: Request) => {
    const asked = parseAsked(parseQuery(request.url));
    const counts = await engine.keyUsage.read(callerOf(request), request.params.id, asked);
    return { data: counts, pagination: { nextCursor: null, hasMore: false } };
  };
  for (const version of versions) server.get(`${version}/${engine.keyUsage.keys.segment}/:id/usage`, usage);
}

const parameters = ["from", "to", "step"];

function parseAsked(query: Query): AskedUsage {
  const faults = [...query].flatMap(([name, values]): Fault[] => {
    const field = name.slice(0, 100);
    if (!parameters.includes(name))
      return [{ field, issue: "unknown", text: `is no parameter here; there are ${parameters.join(", ")}` }];
    return values.length > 1 ? [{ field, issue: "duplicate", text: "is given more than once" }] : [];
  });
  if (faults.length > 0) throw new FaultyInput(faults);
  return { from: query.get("from")?.[0], to: query.get("to")?.[0], step: query.get("step")?.[0] };
}

// `GET /v1/api-keys/{id}/usage`: how often a key was used.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { InvalidInput } from "../engine/validation/validate.ts";
import type { FieldError } from "../errors.ts";
import { parseQuery, type Query } from "../query/query-string.ts";
import type { UsageRequest } from "../usage/key-usage.ts";
import type { RestOptions } from "./routes.ts";

type Request = FastifyRequest<{ Params: { readonly id: string } }>;

/** @param versions the paths under which API keys stand: `/v1` */
export function registerKeyUsage(
  server: FastifyInstance,
  { keyUsage, callerOf }: RestOptions,
  versions: readonly string[],
): void {
  const usage = async (request: Request) => {
    const usageRequest = parseUsageQuery(parseQuery(request.url));
    const counts = await keyUsage.read(callerOf(request), request.params.id, usageRequest);
    return { data: counts, pagination: { nextCursor: null, hasMore: false } };
  };
  for (const version of versions) server.get(`${version}/${keyUsage.keys.segment}/:id/usage`, usage);
}

const parameters = ["from", "to", "step"];

function parseUsageQuery(query: Query): UsageRequest {
  const errors = [...query].flatMap(([name, values]): FieldError[] => {
    const field = name.slice(0, 100);
    if (!parameters.includes(name))
      return [{ field, issue: "unknown", text: `is no parameter here; there are ${parameters.join(", ")}` }];
    return values.length > 1 ? [{ field, issue: "duplicate", text: "is given more than once" }] : [];
  });
  if (errors.length > 0) throw new InvalidInput(errors);
  return { from: query.get("from")?.[0], to: query.get("to")?.[0], step: query.get("step")?.[0] };
}

// POST and PATCH with an Idempotency-Key: the request runs once, and its repetitions get the same response.

import type { FastifyReply } from "fastify";
import { requireScope } from "../engine/authorize.ts";
import { Problem } from "../errors.ts";
import { idempotentRequest } from "../idempotency/idempotent-request.ts";
import { type Answer, replayedHeader } from "../idempotency/idempotent-requests.ts";
import { originForm } from "../lib/origin-form.ts";
import type { Operation } from "../model/operations.ts";
import type { Handler, RestOptions, RowRequest } from "./handlers.ts";

/** The headers that are part of the answer. The others belong to each response. */
const answerHeaders = ["content-type", "etag", "location", "deprecation", "sunset"];

/** @param prefix the version in the path: `/v1` */
export function idempotentHandler(
  handle: Handler,
  { method, scope, prefixes, resource }: Operation,
  { callerOf, idempotentRequests }: RestOptions,
  prefix: string,
): Handler {
  // The unversioned path is that of the current version.
  const ignored = prefixes.includes("") ? prefix.length : 0;
  const runOnce = async (request: RowRequest, reply: FastifyReply, key: string): Promise<string> => {
    const caller = callerOf(request);
    requireScope(caller, scope);
    const parts = {
      ...{ method, body: request.body, ifMatch: request.headers["if-match"] },
      path: originForm(request.url).slice(ignored),
    };
    const work = async (writes: Parameters<Handler>[2]) => {
      const body = await handle(request, reply, writes);
      // Only operations that respond with a row are handled here.
      return {
        answer: { status: reply.statusCode, headers: headersOf(reply), body: String(body) },
        isStored: true,
      };
    };
    const { answer, isReplayed } = await idempotentRequests.run(caller, idempotentRequest(key, parts), work);
    if (isReplayed) reply.code(answer.status).headers({ ...answer.headers, ...replayedHeader });
    return answer.body;
  };
  return (request, reply) => {
    const key = request.headers["idempotency-key"];
    if (key !== undefined) return runOnce(request, reply, String(key));
    if (resource.requiresIdempotencyKey) throw new Problem("idempotency_key_required");
    return handle(request, reply);
  };
}

function headersOf(reply: FastifyReply): Answer["headers"] {
  const set = answerHeaders.flatMap((name) => {
    const value = reply.getHeader(name);
    return value === undefined ? [] : [[name, String(value)] as const];
  });
  return Object.fromEntries(set);
}

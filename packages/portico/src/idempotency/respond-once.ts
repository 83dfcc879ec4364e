// Responds to requests with an Idempotency-Key: the first one runs, and its repetitions get the same response.

import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../declare/caller.ts";
import type { RecordedWrites } from "../engine/recorded-writes.ts";
import { originForm } from "../lib/origin-form.ts";
import type { Transaction } from "../store/database.ts";
import { idempotentRequest } from "./idempotent-request.ts";
import { type Answer, type Attempt, type IdempotentRequests, replayedHeader } from "./idempotent-requests.ts";

/** The headers that are part of the answer. The others belong to each response. */
const answerHeaders = ["content-type", "etag", "location", "deprecation", "sunset", "link"];

/** The Idempotency-Key of a request; undefined if it has none. */
export function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers["idempotency-key"];
  return key === undefined ? undefined : String(key);
}

export interface RepeatableRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly caller: Caller;
  /** The value of the header. */
  readonly key: string;
  /** The beginning of the path that does not count, because the path without it is the same. */
  readonly ignoredPrefix?: string;
}

/**
 * Sets the status and the headers of the response.
 *
 * @param work handles the request within a transaction, and returns the body of the response
 * @param prepare see `IdempotentRequests.run`
 * @returns the body
 * @throws what `IdempotentRequests.run` throws
 */
export async function respondOnce<Prepared = undefined>(
  requests: Pick<IdempotentRequests, "run">,
  { request, reply, caller, key, ignoredPrefix = "" }: RepeatableRequest,
  work: (writes: RecordedWrites, transaction: Transaction, prepared: Prepared) => Promise<string>,
  prepare?: () => Promise<Prepared>,
): Promise<string> {
  const identified = idempotentRequest(key, {
    ...{
      method: request.method,
      body: request.bodyIdentity ?? request.body,
      ifMatch: request.headers["if-match"],
    },
    path: originForm(request.url).slice(ignoredPrefix.length),
  });
  const attempt = async (...context: Parameters<typeof work>): Promise<Attempt> => {
    const body = await work(...context);
    return { answer: { status: reply.statusCode, headers: headersOf(reply), body }, isStored: true };
  };
  const { answer, isReplayed } = await requests.run(caller, identified, attempt, {
    ...(prepare && { prepare }),
  });
  if (isReplayed) reply.code(answer.status).headers({ ...answer.headers, ...replayedHeader });
  return answer.body;
}

function headersOf(reply: FastifyReply): Answer["headers"] {
  const set = answerHeaders.flatMap((name) => {
    const value = reply.getHeader(name);
    return value === undefined ? [] : [[name, String(value)] as const];
  });
  return Object.fromEntries(set);
}

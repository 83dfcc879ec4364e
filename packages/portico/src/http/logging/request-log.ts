// What is told of each request: a line - who, what, how long, never bodies, headers or queries - and for each use of
// a key another one. That is done a few thousandths of a second later, for many together: one by one it took a
// noticeable part of a request's time, so a request itself only leaves one small object.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { pino } from "pino";
import type { Caller } from "../../declare/caller.ts";
import { redactCredentials } from "../../lib/redact-credentials.ts";
import type { Log } from "./log.ts";

/** A request that was answered. */
export interface CompletedRequest {
  readonly requestId: string;
  readonly method: string;
  /** The pattern of its path, `/posts/:id`; there is none where nothing is at the path. */
  readonly route: string | undefined;
  /** The request target, with its query. */
  readonly url: string;
  /** 499 where the caller did not wait for it. */
  readonly status: number;
  readonly durationMs: number;
  readonly caller: Caller | undefined;
}

export interface RequestRecorder {
  /** @param at about when they were answered, in milliseconds since 1970 */
  add(requests: readonly CompletedRequest[], at: number): void;
}

/** What is told of a request whose caller hung up before the answer; nginx's number for it. */
const clientClosedRequest = 499;
/** How long a request may wait for others. */
const flushDelayMs = 4;

export function recordRequests(
  server: FastifyInstance,
  { writeLines }: Log,
  recorders: readonly RequestRecorder[],
): void {
  let waiting: CompletedRequest[] = [];
  const record = (): void => {
    const requests = waiting;
    waiting = [];
    if (requests.length === 0) return;
    const now = Date.now();
    if (writeLines) for (const some of chunks(requests)) writeLines(linesOf(some, now));
    for (const recorder of recorders) recorder.add(requests, now);
  };
  server.addHook("onRequest", (request, reply, done) => {
    // Fastify's onResponse does not come where a caller hangs up.
    const started = performance.now();
    reply.raw.on("close", () => {
      if (waiting.push(completedRequest(request, reply, started)) === 1) setTimeout(record, flushDelayMs);
    });
    done();
  });
  server.addHook("onClose", async () => record());
}

/** @param started in milliseconds of `performance.now()` */
function completedRequest(request: FastifyRequest, reply: FastifyReply, started: number): CompletedRequest {
  return {
    requestId: request.id,
    method: request.method,
    route: request.route.url,
    url: request.url,
    status: reply.raw.headersSent ? reply.raw.statusCode : clientClosedRequest,
    durationMs: Math.round((performance.now() - started) * 1000) / 1000,
    caller: request.caller,
  };
}

/** The lines as pino would write them, without its work for each. */
function linesOf(requests: readonly CompletedRequest[], now: number): string {
  const start = `{"level":${pino.levels.values.info},"time":${now},"requestId":"`;
  let lines = "";
  let whose = callerMembers(requests[0]?.caller, requests[0]?.route);
  for (const request of requests) {
    const { requestId, caller, route } = request;
    if (whose.caller !== caller || whose.route !== route) whose = callerMembers(caller, route);
    lines += `${start}${requestId}"${requestMembers(request)}${whose.request}`;
    if (whose.use) lines += `${start}${requestId}"${whose.use}`;
  }
  return lines;
}

/** Longer texts than these make are no faster to write, and take their memory elsewhere than on the heap. */
const requestsPerChunk = 100;

function* chunks(requests: readonly CompletedRequest[]): Generator<readonly CompletedRequest[]> {
  for (let start = 0; start < requests.length; start += requestsPerChunk)
    yield requests.slice(start, start + requestsPerChunk);
}

/** What the server made or knows is written as it is; what callers gave is searched for credentials. */
function requestMembers({ method, url, status, durationMs }: CompletedRequest): string {
  const query = url.indexOf("?");
  const path = redactCredentials(JSON.stringify(query < 0 ? url : url.slice(0, query)));
  return `,"method":"${method}","path":${path},"status":${status},"durationMs":${durationMs}`;
}

/** What requests of one caller on one route end with; those that come in a row are mostly of one. */
interface CallerMembers {
  readonly caller: Caller | undefined;
  readonly route: string | undefined;
  /** The rest of the line of the request. */
  readonly request: string;
  /** The rest of the line of the key's use, where a key was shown. */
  readonly use: string | undefined;
}

function callerMembers(caller: Caller | undefined, route: string | undefined): CallerMembers {
  const at = route === undefined ? "" : `,"route":${JSON.stringify(route)}`;
  const by = caller ? credentialMembers(caller) : "";
  const isKey = caller?.keyId !== undefined;
  return {
    ...{ caller, route },
    request: `${at}${by},"msg":"request"}\n`,
    use: isKey ? `${usageMembers(caller)}${at},"msg":"api_key.used"}\n` : undefined,
  };
}

/** `credentialOf` as text; nothing in it needs escapes, but for a client's name. */
function credentialMembers({ keyId, credentialId, tenantId }: Caller): string {
  const name = keyId === undefined ? `"credentialId":${JSON.stringify(credentialId)}` : `"keyId":"${keyId}"`;
  return `,${name},"tenantId":"${tenantId}"`;
}

/** What lines tell of a caller. */
export function credentialOf({ keyId, credentialId, tenantId }: Caller): object {
  return keyId === undefined ? { credentialId, tenantId } : { keyId, tenantId };
}

function usageMembers({ keyId, userId, address }: Caller): string {
  const owner = userId === undefined ? "" : `,"ownerId":"${userId}"`;
  const ip = address === undefined ? "" : `,"ip":${JSON.stringify(address)}`;
  return `,"keyId":"${keyId}"${owner}${ip}`;
}

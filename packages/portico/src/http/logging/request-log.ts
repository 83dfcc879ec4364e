// Logs each request in one line (caller, path, status, duration; no bodies, headers or queries), and each use of a key in
// another one. Lines are written a few milliseconds later, for many requests at once: written one by one they took a
// noticeable part of a request's time.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { pino } from "pino";
import type { Caller } from "../../declare/caller.ts";
import { redactCredentials } from "../../lib/redact-credentials.ts";
import type { Log } from "./log.ts";

/** A request whose response has been sent. */
export interface CompletedRequest {
  readonly requestId: string;
  readonly method: string;
  /** The pattern of its path, `/posts/:id`; undefined for an unknown path. */
  readonly route: string | undefined;
  /** The request target, with its query. */
  readonly url: string;
  /** 499 if the caller closed the connection before the response. */
  readonly status: number;
  readonly durationMs: number;
  readonly caller: Caller | undefined;
}

export interface RequestRecorder {
  /** @param at when they were completed, to a few milliseconds, in milliseconds since 1970 */
  add(requests: readonly CompletedRequest[], at: number): void;
}

/** The status, as in nginx, of a request whose caller closed the connection before the response. */
const clientClosedRequest = 499;
/** How long a request waits to be logged together with others. */
const flushDelayMs = 4;

export function recordRequests(
  server: FastifyInstance,
  { writeLines }: Log,
  recorders: readonly RequestRecorder[],
): void {
  let pending: CompletedRequest[] = [];
  const record = (): void => {
    const requests = pending;
    pending = [];
    if (requests.length === 0) return;
    const now = Date.now();
    if (writeLines) for (const chunk of chunks(requests)) writeLines(linesOf(chunk, now));
    for (const recorder of recorders) recorder.add(requests, now);
  };
  server.addHook("onRequest", (request, reply, done) => {
    // Fastify's onResponse is not called if the caller closes the connection.
    const started = performance.now();
    reply.raw.on("close", () => {
      if (pending.push(completedRequest(request, reply, started)) === 1) setTimeout(record, flushDelayMs);
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

/** The lines as pino would write them, at less cost. */
function linesOf(requests: readonly CompletedRequest[], now: number): string {
  const start = `{"level":${pino.levels.values.info},"time":${now},"requestId":"`;
  let lines = "";
  let members = callerMembers(requests[0]?.caller, requests[0]?.route);
  for (const request of requests) {
    const { requestId, caller, route } = request;
    if (members.caller !== caller || members.route !== route) members = callerMembers(caller, route);
    lines += `${start}${requestId}"${requestMembers(request)}${members.request}`;
    if (members.use) lines += `${start}${requestId}"${members.use}`;
  }
  return lines;
}

/** Longer texts are not written faster, and are allocated outside of the heap. */
const requestsPerChunk = 100;

function* chunks(requests: readonly CompletedRequest[]): Generator<readonly CompletedRequest[]> {
  for (let start = 0; start < requests.length; start += requestsPerChunk)
    yield requests.slice(start, start + requestsPerChunk);
}

/** Only the path, which the caller chooses, can contain credentials to redact. */
function requestMembers({ method, url, status, durationMs }: CompletedRequest): string {
  const query = url.indexOf("?");
  const path = redactCredentials(JSON.stringify(query < 0 ? url : url.slice(0, query)));
  return `,"method":"${method}","path":${path},"status":${status},"durationMs":${durationMs}`;
}

/** The end of the lines for one caller and route. Consecutive requests mostly share it. */
interface CallerMembers {
  readonly caller: Caller | undefined;
  readonly route: string | undefined;
  /** The end of the request's line. */
  readonly request: string;
  /** The end of the line for the use of the key; undefined for other credentials. */
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

/** `credentialOf` as text. Only a client's name may need escaping. */
function credentialMembers({ keyId, credentialId, tenantId }: Caller): string {
  const name = keyId === undefined ? `"credentialId":${JSON.stringify(credentialId)}` : `"keyId":"${keyId}"`;
  return `,${name},"tenantId":"${tenantId}"`;
}

/** The caller in a log line. */
export function credentialOf({ keyId, credentialId, tenantId }: Caller): object {
  return keyId === undefined ? { credentialId, tenantId } : { keyId, tenantId };
}

function usageMembers({ keyId, userId, address }: Caller): string {
  const owner = userId === null ? "" : `,"ownerId":"${userId}"`;
  const ip = address === undefined ? "" : `,"ip":${JSON.stringify(address)}`;
  return `,"keyId":"${keyId}"${owner}${ip}`;
}

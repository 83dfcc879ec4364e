// Answers that are no success, from outside the library: pages for people, JSON for applications.

import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { LoggedProblem, Problem } from "../errors.ts";
import type { Running } from "./authorization-server.ts";
import { tooManyTries } from "./exchange.ts";
import { isOutage, toldOfOutage } from "./outages.ts";
import { pageHeaders } from "./pages/layout.ts";
import { errorPage } from "./pages/plain-pages.ts";
import type { Site } from "./site.ts";

interface Call {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly running: Running;
  readonly isPage: boolean;
}

export function answerTooMany({ reply, running: { site }, isPage }: Call, seconds: number): FastifyReply {
  const told = { error: "temporarily_unavailable", error_description: tooManyTries(seconds) };
  const type = isPage ? "text/html; charset=utf-8" : "application/json; charset=utf-8";
  const headers = { ...pageHeaders(site), "Content-Type": type, "Retry-After": String(seconds) };
  reply.raw.writeHead(429, headers).end(isPage ? errorPage(site, told) : JSON.stringify(told));
  return reply;
}

/** What the library throws outside its own handlers: a page that is too old, a fault of ours, or an outage. */
export function answerBroken(
  error: unknown,
  { request, reply: { raw }, running: { site }, isPage }: Call,
): void {
  const { status, headers, told } = isOutage(error) ? outageOf(error, request) : brokenOf(error, request);
  if (raw.headersSent) return void raw.end();
  const isForPeople = isPage || !isOutage(error);
  const type = isForPeople ? "text/html; charset=utf-8" : "application/json; charset=utf-8";
  raw.writeHead(status, { ...pageHeaders(site), ...headers, "Content-Type": type });
  raw.end(isForPeople ? errorPage(site, told) : JSON.stringify(told));
}

function brokenOf(error: unknown, { log, id }: FastifyRequest) {
  const { statusCode = 500, error: code, error_description: description } = error as Partial<Refusal>;
  if (statusCode >= 500) log.error({ requestId: id, err: error }, "request failed");
  const told = statusCode >= 500 ? broken : { error: code, error_description: description };
  return { status: statusCode, headers: {}, told };
}

function outageOf(outage: Problem, { log, id }: FastifyRequest) {
  if (!(outage instanceof LoggedProblem))
    log.error({ requestId: id, err: outage.cause ?? outage }, "request failed");
  return { status: outage.status, headers: outage.headers, told: toldOfOutage(outage) };
}

interface Refusal {
  readonly statusCode: number;
  readonly error: string;
  readonly error_description: string;
}

const broken = { error: "server_error", error_description: "Something went wrong on our side." };

/** What the building refuses at these paths, in the form that clients of OAuth understand. */
export function describeOAuthError(problem: Problem): object {
  if (isOutage(problem)) return toldOfOutage(problem);
  const { message } = problem;
  return { error: "invalid_request", error_description: message };
}

/** RFC 6749, section 5.2: what clients of OAuth understand. */
export function answerOAuthError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const { status, headers, told } = refusalOf(error, request);
  reply.code(status).headers(headers).send(told);
}

/** The same for people: the page that an asynchronous handler of errors answers with. */
export function pageOfError(
  site: Site,
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): string {
  const { status, headers, told } = refusalOf(error, request);
  const type = "text/html; charset=utf-8";
  reply.code(status).headers({ ...pageHeaders(site), ...headers, "Content-Type": type });
  return errorPage(site, told);
}

function refusalOf(error: FastifyError, request: FastifyRequest) {
  const { status, headers } =
    error instanceof Problem ? error : { status: error.statusCode ?? 500, headers: {} };
  if (isOutage(error)) return outageOf(error, request);
  if (status < 500)
    return { status, headers, told: { error: "invalid_request", error_description: error.message } };
  request.log.error({ requestId: request.id, err: error }, "request failed");
  return { status, headers, told: broken };
}

// Answers that are no success, from outside the library: pages for people, JSON for applications.

import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { LoggedProblem, Problem } from "../errors.ts";
import type { Running } from "./authorization-server.ts";
import { tooManyTries } from "./exchange.ts";
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

/** What the library throws outside its own handlers: a page that is too old, or a fault of ours. */
export function answerBroken(error: unknown, { request, reply: { raw }, running: { site } }: Call): void {
  const { statusCode = 500, error: code, error_description: description } = error as Partial<Refusal>;
  if (statusCode >= 500) request.log.error({ requestId: request.id, err: error }, "request failed");
  if (raw.headersSent) return void raw.end();
  const told = errorPage(site, statusCode >= 500 ? broken : { error: code, error_description: description });
  raw.writeHead(statusCode, { ...pageHeaders(site), "Content-Type": "text/html; charset=utf-8" }).end(told);
}

interface Refusal {
  readonly statusCode: number;
  readonly error: string;
  readonly error_description: string;
}

const broken = { error: "server_error", error_description: "Something went wrong on our side." };

/** What the building refuses at these paths, in the form that clients of OAuth understand. */
export function describeOAuthError({ message }: Problem): object {
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
  // Overload, of which the log tells by itself; so are applications told (RFC 6749, section 4.1.2.1).
  if (error instanceof LoggedProblem) {
    const told = { error: "temporarily_unavailable", error_description: error.message };
    return { status, headers: { "Retry-After": "1", ...headers }, told };
  }
  if (status < 500)
    return { status, headers, told: { error: "invalid_request", error_description: error.message } };
  request.log.error({ requestId: request.id, err: error }, "request failed");
  return { status, headers, told: broken };
}

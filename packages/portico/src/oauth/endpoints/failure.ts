// Error responses that oidc-provider does not send itself: HTML for pages, JSON for clients.

import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { isUnavailable, LoggedProblem, Problem } from "../../errors.ts";
import type { RunningProvider } from "../authorization-server.ts";
import { tooManyAttemptsMessage } from "../interaction/page-request.ts";
import { pageHeaders } from "../pages/layout.ts";
import { errorPage } from "../pages/plain-pages.ts";
import { outageBody } from "../provider/patches/outages.ts";
import type { Issuer } from "./issuer.ts";

interface FailedRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly running: RunningProvider;
  readonly isPage: boolean;
}

export function sendTooManyRequests(
  { reply, running: { issuer }, isPage }: FailedRequest,
  seconds: number,
): FastifyReply {
  const body = { error: "temporarily_unavailable", error_description: tooManyAttemptsMessage(seconds) };
  const type = isPage ? "text/html; charset=utf-8" : "application/json; charset=utf-8";
  const headers = { ...pageHeaders(issuer), "Content-Type": type, "Retry-After": String(seconds) };
  reply.raw.writeHead(429, headers).end(isPage ? errorPage(issuer, body) : JSON.stringify(body));
  return reply;
}

/** Responds to an exception of a page: an expired interaction, an outage, or a bug. */
export function sendUnexpectedError(
  error: unknown,
  { request, reply: { raw }, running: { issuer }, isPage }: FailedRequest,
): void {
  const {
    status,
    headers,
    body: page,
  } = isUnavailable(error) ? outageOf(error, request) : failureOf(error, request);
  if (raw.headersSent) return void raw.end();
  const isHtml = isPage || !isUnavailable(error);
  const type = isHtml ? "text/html; charset=utf-8" : "application/json; charset=utf-8";
  raw.writeHead(status, { ...pageHeaders(issuer), ...headers, "Content-Type": type });
  raw.end(isHtml ? errorPage(issuer, page) : JSON.stringify(page));
}

function failureOf(error: unknown, { log, id }: FastifyRequest) {
  const {
    statusCode = 500,
    error: code,
    error_description: description,
  } = error as Partial<OAuthErrorResponse>;
  if (statusCode >= 500) log.error({ requestId: id, err: error }, "request failed");
  const errorBody = statusCode >= 500 ? serverError : { error: code, error_description: description };
  return { status: statusCode, headers: {}, body: errorBody };
}

function outageOf(outage: Problem, { log, id }: FastifyRequest) {
  if (!(outage instanceof LoggedProblem))
    log.error({ requestId: id, err: outage.cause ?? outage }, "request failed");
  return { status: outage.status, headers: outage.headers, body: outageBody(outage) };
}

interface OAuthErrorResponse {
  readonly statusCode: number;
  readonly error: string;
  readonly error_description: string;
}

const serverError = { error: "server_error", error_description: "Something went wrong on our side." };

/** A refusal by the HTTP server at one of these paths, as an OAuth error body. */
export function describeOAuthError(problem: Problem): object {
  if (isUnavailable(problem)) return outageBody(problem);
  const { message } = problem;
  return { error: "invalid_request", error_description: message };
}

/** Sends an error as JSON (RFC 6749, section 5.2) that scripts of every origin can read, as those of oidc-provider. */
export function sendOAuthError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const { status, headers, body } = errorResponse(error, request);
  const { origin } = request.headers;
  if (origin !== undefined) reply.headers({ "Access-Control-Allow-Origin": origin, Vary: "Origin" });
  reply.code(status).headers(headers).header("Cache-Control", "no-store").send(body);
}

/** Sends the status and headers of an error page. @returns the page */
export function renderErrorPage(
  issuer: Issuer,
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): string {
  const { status, headers, body } = errorResponse(error, request);
  const type = "text/html; charset=utf-8";
  reply.code(status).headers({ ...pageHeaders(issuer), ...headers, "Content-Type": type });
  return errorPage(issuer, body);
}

function errorResponse(error: FastifyError, request: FastifyRequest) {
  const { status, headers } =
    error instanceof Problem ? error : { status: error.statusCode ?? 500, headers: {} };
  if (isUnavailable(error)) return outageOf(error, request);
  if (status < 500)
    return { status, headers, body: { error: "invalid_request", error_description: error.message } };
  request.log.error({ requestId: request.id, err: error }, "request failed");
  return { status, headers, body: serverError };
}

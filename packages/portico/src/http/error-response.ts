// Turns every error into a response, whether the router, the body parser or a protocol has thrown it.

import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { type ErrorCode, LoggedProblem, Problem } from "../errors.ts";
import type { Logger } from "./logging/log.ts";

const errorType = "application/json; charset=utf-8";

/** Errors of Fastify that the caller has caused. */
const frameworkErrors: Readonly<Record<string, readonly [ErrorCode, string?]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ["payload_too_large"],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ["unsupported_media_type"],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    "malformed_request",
    "The body is not as long as Content-Length says.",
  ],
  FST_ERR_BAD_URL: ["malformed_request", "The path has broken percent-encoding."],
  // Longer than any id.
  FST_ERR_MAX_PARAM_LENGTH: ["not_found", "There is nothing at this path."],
};

/** The error to send. The message of an unexpected one is not sent. */
function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const { code = "", statusCode = 500 } = (error ?? {}) as Partial<FastifyError>;
  const known = frameworkErrors[code];
  if (known) return new Problem(known[0], known[1]);
  return new Problem(statusCode >= 400 && statusCode < 500 ? "malformed_request" : "internal_error");
}

/** Sends the error, and logs it unless the caller has caused it. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = problemOf(error);
  if (problem.status >= 500 && !(problem instanceof LoggedProblem)) {
    request.log.error({ requestId: request.id, err: problem.cause ?? error }, "request failed");
  }
  reply
    .code(problem.status)
    .headers({ ...problem.headers })
    // The hook that sets it has not run for every error.
    .header("X-Request-Id", request.id)
    .header("Content-Type", errorType)
    .send(problem.toText());
}

const socketErrors: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
};

/** Responds on a connection whose request cannot be parsed, and closes it. */
export function handleClientError(
  logger: Logger,
): (error: Error & { code?: string }, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    const problem = new Problem(socketErrors[error.code ?? ""] ?? "malformed_request");
    const requestId = randomUUID();
    logger.info({ requestId, status: problem.status, reason: error.code }, "unreadable request");
    refuseOnSocket(socket, problem, requestId);
  };
}

/** How long a refused caller may take to read the response and close the connection. */
const closeTimeoutMs = 2_000;

/** Responds with an error on a connection outside of any request, and closes it. */
export function refuseOnSocket(socket: Duplex, problem: Problem, requestId: string): void {
  // Closing at once could reset the connection before the caller has read the response (RFC 9112, section 9.6).
  const timeout = setTimeout(() => socket.destroy(), closeTimeoutMs);
  socket.once("close", () => clearTimeout(timeout));
  const body = problem.toText();
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.code}\r\nX-Request-Id: ${requestId}\r\n` +
      Object.entries(problem.headers)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join("") +
      `Content-Type: ${errorType}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  );
}

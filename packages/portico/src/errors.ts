// Every error of the API: its code, its HTTP status and its default message. An error is thrown where it is detected, and
// turned into a response in one place (http/error-response.ts).

/** The HTTP status and the default message of each code. */
export const catalogue = {
  malformed_request: [400, "The request is malformed."],
  idempotency_key_required: [
    400,
    "Send the header `Idempotency-Key`, so that the request can be repeated safely.",
  ],
  invalid_cursor: [400, "The cursor is not valid for this request. Start again without a cursor."],
  credential_in_query: [400, "Credentials are not accepted in the query string. Send them in a header."],
  authentication_required: [
    401,
    "Send a credential: 'Authorization: Bearer <key or access token>' or 'X-API-Key: <key>'.",
  ],
  invalid_credential: [401, "The credential is unknown, expired or revoked."],
  wrong_environment: [401, "The credential belongs to another environment."],
  insufficient_scope: [403, "The credential lacks the scope that this operation needs."],
  forbidden: [403, "The credential is not allowed to do this."],
  not_found: [404, "There is no such resource."],
  method_not_allowed: [405, "The method is not allowed here."],
  not_acceptable: [406, "This resource is available as application/json only."],
  request_timeout: [408, "The request was not received in time. Send it again."],
  conflict: [409, "The request conflicts with the current state."],
  idempotency_in_progress: [
    409,
    "A request with this `Idempotency-Key` is in progress. Repeat it in a moment.",
  ],
  precondition_failed: [412, "The resource has changed since it was read. Read it again, then repeat."],
  payload_too_large: [413, "The body is larger than 1 MiB."],
  unsupported_media_type: [415, "Send the body as application/json."],
  range_not_satisfiable: [416, "The file does not have this range."],
  validation_error: [422, "The request is invalid; see details."],
  idempotency_key_reused: [
    422,
    "This `Idempotency-Key` was used for another request. Use a new key for each request.",
  ],
  rolled_back: [424, "Nothing was written, because another write of the operation failed."],
  rate_limited: [429, "Too many requests. Wait for the seconds in Retry-After."],
  headers_too_large: [431, "The request line and headers are larger than 16 KiB."],
  internal_error: [500, "Something went wrong on our side."],
  unavailable: [503, "The service is briefly unavailable. Try again."],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type ErrorCode = keyof typeof catalogue;

/** What can be wrong with a field, in one word that a form can act on. */
export const issues = [
  ...(["required", "unknown", "type", "min", "max"] as const),
  ...(["format", "choice", "duplicate", "reference", "read_only"] as const),
] as const;

export type Issue = (typeof issues)[number];

export interface Detail {
  /** The field or parameter, `meta.colour` if it is nested; empty for the whole body. */
  readonly field: string;
  readonly issue: Issue;
}

/** An invalid value of a body or query. All of them are reported together. */
export interface FieldError extends Detail {
  /** What is wrong, as the end of a sentence that begins with the field: "must be text". */
  readonly text: string;
}

/** An invalid value, with the end of a sentence or a complete message. */
export type InputError = FieldError | (Detail & { readonly message: string });

/** For errors that will end soon. */
const retryLater = { "Retry-After": "1" };

/** What Node sends (RFC 9110, sections 5.1 and 5.5). */
const headerName = /^[!#$%&'*+.^_`|~\w-]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * An error that is sent to the caller: `{"error": {"code", "message", "details"}}`, with the HTTP status of its code.
 *
 * @throws TypeError for an unknown code, an incomplete detail, or a header that cannot be sent, such as one with a line
 *   break
 * @example
 * throw new Problem("conflict", "The project still has deployments. Remove them first.");
 */
export class Problem extends Error {
  readonly code: ErrorCode;
  readonly details: readonly Detail[];
  /** Headers of the response: `Allow`, for example. Those that end soon always have `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string = catalogue[code][1],
    details: readonly Detail[] = [],
    headers: Readonly<Record<string, string>> = {},
    cause?: unknown,
  ) {
    // The stack is not needed, and recording it costs more than the rest of a refused request.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, cause === undefined ? undefined : { cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "Problem";
    this.code = code;
    this.details = details;
    // What cannot be sent is an error here, because sending it would throw where nothing catches that.
    if (!Object.hasOwn(catalogue, code)) throw new TypeError(`there is no error code ${code}`);
    for (const { field, issue } of details)
      if (typeof field !== "string" || typeof issue !== "string")
        throw new TypeError("a detail of an error needs a field and an issue");
    for (const [name, value] of Object.entries(headers))
      if (!headerName.test(name) || typeof value !== "string" || !headerValue.test(value))
        throw new TypeError(`the header ${JSON.stringify(name)} of an error cannot be sent`);
    this.headers = hasRetryAfter(code) ? { ...retryLater, ...headers } : headers;
  }

  get status(): number {
    return catalogue[this.code][0];
  }

  /** The body of the response, as JSON text: `{"error": {"code", "message", "details"}}`. */
  toText(): string {
    return JSON.stringify({ error: { code: this.code, message: this.message, details: this.details } });
  }
}

/** Whether responses with this error have `Retry-After`, because the same request may succeed soon. */
export function hasRetryAfter(code: ErrorCode): boolean {
  return code === "unavailable" || code === "rate_limited" || code === "idempotency_in_progress";
}

/** An error of the server that is already logged, once for many requests. */
export class LoggedProblem extends Problem {}

/** Whether an error means that the database or another service does not respond, so the input is not the cause. */
export function isUnavailable(error: unknown): error is Problem {
  return error instanceof Problem && error.code === "unavailable";
}

/** A validation error about a single field. */
export function validationError(field: string, issue: Issue, message: string): Problem {
  return new Problem("validation_error", message, [{ field, issue }]);
}

/** A mistake in declarations, settings or commands. It is printed as one line without a stack; the exit code is 1. */
export class OperatorError extends Error {
  override readonly name = "OperatorError";
}

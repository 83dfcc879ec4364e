/** What is wrong with a field or parameter. */
export interface ErrorDetail {
  /** `title`, `meta.colour`, or a parameter. */
  readonly field: string;
  /** One word: `required`, `min`, `choice` and so on. */
  readonly issue: string;
}

/**
 * The failure of a call: an error of the API, or no response from it.
 *
 * @example
 * catch (error) {
 *   if (error instanceof PorticoError && error.code === "validation_error") show(error.details);
 * }
 */
export class PorticoError extends Error {
  override readonly name = "PorticoError";
  /** The HTTP status; 0 if there was no response. */
  readonly status: number;
  /** A code of the API, or `network_error`, `timeout`, or `invalid_response` if the response is not one of the API. */
  readonly code: string;
  readonly details: readonly ErrorDetail[];
  /** To find the request in the log of the server. */
  readonly requestId: string | undefined;
  /** Seconds to wait before the next attempt, if the server said so. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    {
      details = [],
      requestId,
      retryAfter,
      cause,
    }: {
      readonly details?: readonly ErrorDetail[];
      readonly requestId?: string | undefined;
      readonly retryAfter?: number | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause });
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

interface ErrorBody {
  readonly code?: string;
  readonly message?: string;
  readonly details?: readonly ErrorDetail[];
  /** In the form of GraphQL. */
  readonly extensions?: { readonly code?: string; readonly details?: readonly ErrorDetail[] };
}

/** The error of an unsuccessful response. Reads the body. */
export async function errorOf(response: Response): Promise<PorticoError> {
  const text = await response.text().catch(() => "");
  let body: { readonly error?: ErrorBody; readonly errors?: readonly ErrorBody[] } | undefined;
  try {
    body = JSON.parse(text);
  } catch {
    // A proxy answers with a page of its own.
  }
  return errorOfBody(body?.error ?? body?.errors?.[0], response);
}

export function errorOfBody(error: ErrorBody | undefined, { status, headers }: Response): PorticoError {
  const { code, details } = error?.extensions ?? error ?? {};
  const message = error?.message;
  const after = headers.get("retry-after");
  // Seconds or a date (RFC 9110, section 10.2.3).
  const seconds = after ? (Number.isNaN(+after) ? (Date.parse(after) - Date.now()) / 1000 : +after) : NaN;
  return new PorticoError(
    status,
    typeof code === "string" ? code : "invalid_response",
    typeof message === "string" ? message : `The server answered ${status}.`,
    {
      details: Array.isArray(details) ? details : [],
      requestId: headers.get("x-request-id") ?? undefined,
      retryAfter: Number.isNaN(seconds) ? undefined : Math.max(0, seconds),
    },
  );
}

/** @param cause what is wrong with the response */
export function notOfTheApi(status: number, cause: unknown): PorticoError {
  return new PorticoError(status, "invalid_response", `The response is not of the API. ${cause}`, { cause });
}

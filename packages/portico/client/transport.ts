// Sends requests with the credential and a timeout, and repeats them where that is safe.

import { errorOf, notOfTheApi, PorticoError } from "./error.ts";

/**
 * An API key or access token, or a function that returns one. The function is called before the first request, and again,
 * with the credential that was refused, when the server answers 401; the request is then sent once more. Concurrent
 * requests share a call.
 */
export type Credential = string | ((refused: string | undefined) => string | Promise<string>);

export interface TransportOptions {
  /** The address of the API, without a version: `https://api.example.com` */
  readonly baseUrl: string;
  /** Without one, only public resources can be read. */
  readonly credential?: Credential | undefined;
  /** By default the global one. */
  readonly fetch?: typeof fetch | undefined;
  /** Attempts after the first one; 3 by default. */
  readonly maxRetries?: number | undefined;
  /** The time of one attempt, with its response; 30 s by default. */
  readonly timeoutMs?: number | undefined;
  /** Called with each response, for its headers: `RateLimit`, `Deprecation`. Must not read the body. */
  readonly onResponse?: ((response: Response) => void) | undefined;
}

export interface RequestOptions {
  /** The ETag that the row must have: otherwise the write fails with `precondition_failed`. */
  readonly ifMatch?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For POST and PATCH. By default a new key for each call. `false` sends none, and the request is not repeated. */
  readonly idempotencyKey?: string | false | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly maxRetries?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly onResponse?: ((response: Response) => void) | undefined;
}

/** A request and how its response is read. */
export interface Sent<Result> {
  readonly method: string;
  /** With the query: `/v1/posts?limit=5` */
  readonly path?: string;
  /** A signed URL, which gets no credential. */
  readonly url?: string;
  /** A `Blob` is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly accept?: string;
  /** Whether it may be repeated although it has no idempotency key. */
  readonly isRepeatable?: boolean;
  /** Reads the response. The timeout of an attempt includes it. */
  readonly read: (response: Response) => Result | Promise<Result>;
}

const firstDelayMs = 250;
const maxDelayMs = 8_000;
/** A request is not repeated if `Retry-After` is longer. */
const maxRetryAfterSeconds = 60;
/** A subscription is opened again after this time, also if `Retry-After` is longer. */
const maxPauseMs = 3_600_000;
/** Timers with a longer time would fire at once. */
const maxTimerMs = 2 ** 31 - 1;

/** The statuses after which the same request may succeed; 409 only while a request with the same key is in progress. */
const transient = new Set([0, 408, 429, 502, 503, 504]);

export function isTransient(error: unknown): error is PorticoError {
  if (!(error instanceof PorticoError)) return false;
  const { status, code } = error;
  if (status === 409) return code === "idempotency_in_progress";
  // A page cannot see the status of a redirect.
  return transient.has(status) && (status !== 0 || code !== "invalid_response");
}

/** Waits before an attempt as long as the server asked for, an hour at most, and a little longer. @param attempt the number of failures before it */
export async function backOff(attempt: number, error: unknown, signal?: AbortSignal): Promise<void> {
  const after = error instanceof PorticoError ? (error.retryAfter ?? 0) : 0;
  const delay =
    Math.random() * Math.min(maxDelayMs, firstDelayMs * 2 ** attempt) + Math.min(maxPauseMs, after * 1000);
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, delay);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
  });
}

export class Transport {
  readonly maxRetries: number;
  readonly #options: TransportOptions;
  readonly #baseUrl: string;
  #credential: string | undefined;
  /** The pending call of the function that returns the credential. */
  #renewal: Promise<string> | undefined;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#baseUrl = options.baseUrl.replace(/\/+$/, "");
    this.maxRetries = options.maxRetries ?? 3;
  }

  /** @throws PorticoError for any failure but an abort by `signal`, whose reason is thrown */
  async send<Result>(sent: Sent<Result>, options: RequestOptions = {}): Promise<Result> {
    const { method } = sent;
    const isWrite = method === "POST" || method === "PATCH";
    const key = isWrite ? (options.idempotencyKey ?? randomKey()) : false;
    const isRepeatable = sent.isRepeatable || !isWrite || key !== false;
    const maxRetries = isRepeatable ? (options.maxRetries ?? this.maxRetries) : 0;
    let isLost = false;
    let wasRefused = false;
    for (let attempt = 0; ; ) {
      const credential = await this.#currentCredential();
      try {
        return await this.#attempt(sent, options, key, credential);
      } catch (error) {
        if (!(error instanceof PorticoError)) throw error;
        // An attempt whose response was lost has deleted the row.
        if (method === "DELETE" && isLost && error.status === 404) return undefined as Result;
        if (error.status === 401 && !wasRefused && typeof this.#options.credential === "function") {
          wasRefused = true;
          await this.#renew(credential);
          continue;
        }
        if (attempt >= maxRetries || !isTransient(error) || (error.retryAfter ?? 0) > maxRetryAfterSeconds)
          throw error;
        isLost ||= error.status === 0;
        await backOff(attempt, error, options.signal);
        attempt += 1;
      }
    }
  }

  async #attempt<Result>(
    { path, url, method, body, headers: own, accept = "application/json", read }: Sent<Result>,
    { signal, ifMatch, headers, timeoutMs = this.#options.timeoutMs ?? 30_000, onResponse }: RequestOptions,
    key: string | false,
    credential: string | undefined,
  ): Promise<Result> {
    signal?.throwIfAborted();
    // The error of `fetch` would repeat it.
    if (credential !== undefined && !/^[\x21-\x7e]+$/.test(credential.trim()))
      throw new PorticoError(
        401,
        "invalid_credential",
        "The credential is empty, or has characters that no header can have.",
      );
    const ownHeaders = {
      accept,
      ...(credential !== undefined && !url && { authorization: `Bearer ${credential.trim()}` }),
      ...(body !== undefined && !(body instanceof Blob) && { "content-type": "application/json" }),
      ...(key !== false && { "idempotency-key": key }),
      ...(ifMatch !== undefined && { "if-match": ifMatch }),
      ...own,
      ...(!url && headers),
    };
    // Made outside of the attempt: what no header or JSON can have is an error of the caller.
    const init: RequestInit = {
      method,
      headers: new Headers(ownHeaders),
      ...(body !== undefined && { body: body instanceof Blob ? body : JSON.stringify(body) }),
      // A redirected POST would become a GET, whose response is not that of the write.
      redirect: method === "GET" || url ? "follow" : "manual",
    };
    const controller = new AbortController();
    let isTimeout = false;
    const timer = setTimeout(
      () => {
        isTimeout = true;
        controller.abort();
      },
      Math.min(maxTimerMs, timeoutMs),
    );
    let status = 0;
    try {
      const response = await (this.#options.fetch ?? fetch)(url ?? this.#baseUrl + path, {
        ...init,
        signal: signal ? AbortSignal.any([signal, controller.signal]) : controller.signal,
      });
      ({ status } = response);
      (onResponse ?? this.#options.onResponse)?.(response);
      if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
        const target = response.headers.get("location") ?? "another address";
        throw new SyntaxError(`The server redirects to ${target}; baseUrl must be the address of the API.`);
      }
      if (!response.ok) throw await errorOf(response);
      // Lines and events are read later.
      if (
        !url &&
        accept !== "application/json" &&
        !response.headers.get("content-type")?.startsWith(accept)
      ) {
        void response.body?.cancel();
        throw new SyntaxError(`The response is not ${accept}.`);
      }
      return await read(response);
    } catch (error) {
      if (error instanceof PorticoError) throw error;
      signal?.throwIfAborted();
      // A page of a proxy, or half of a body.
      if (error instanceof SyntaxError) throw notOfTheApi(status, error);
      const [code, message] = isTimeout
        ? ["timeout", `There was no response within ${timeoutMs} ms.`]
        : ["network_error", "The server cannot be reached, or the connection broke."];
      throw new PorticoError(0, code!, message!, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  async #currentCredential(): Promise<string | undefined> {
    const { credential } = this.#options;
    if (typeof credential !== "function") return credential;
    return this.#credential ?? this.#renew(undefined);
  }

  /** Gets another credential, unless another request has done so since. */
  #renew(refused: string | undefined): Promise<string> {
    const { credential } = this.#options;
    if (this.#credential !== undefined && this.#credential !== refused)
      return Promise.resolve(this.#credential);
    this.#renewal ??= Promise.resolve((credential as (refused: string | undefined) => string)(refused))
      .then((next) => {
        this.#credential = next;
        return next;
      })
      .finally(() => {
        this.#renewal = undefined;
      });
    return this.#renewal;
  }
}

/** Pages without HTTPS have no `crypto.randomUUID`. */
function randomKey(): string {
  return crypto
    .getRandomValues(new Uint8Array(16))
    .reduce((text, byte) => text + byte.toString(16).padStart(2, "0"), "");
}

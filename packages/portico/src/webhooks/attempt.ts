// One attempt of a delivery: the request, and what follows from the response.

import { storableText } from "../lib/storable-text.ts";
import type { OutboundFetch } from "../net/outbound-fetch.ts";
import { signatureHeaders } from "./secret.ts";

/** What an endpoint gets. */
export interface Message {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  /** JSON text. */
  readonly data: string;
}

export interface Attempt {
  readonly at: string;
  /** The status of the response; null if there was none. */
  readonly status: number | null;
  readonly durationMs: number;
  /** Why it failed; null if it succeeded. */
  readonly error: string | null;
  /** The beginning of the body of the response. */
  readonly response: string | null;
  /** What `Retry-After` asks for. */
  readonly retryAfterMs: number | undefined;
}

/** The receiver wants no more deliveries (Standard Webhooks, "410 Gone"). */
export const goneStatus = 410;

const maxErrorLength = 500;
const maxRetryAfterMs = 24 * 60 * 60 * 1000;

/** Sends a message once. It is signed with each key. */
export async function attemptDelivery(
  outbound: Pick<OutboundFetch, "fetch">,
  url: string,
  keys: readonly Buffer[],
  message: Message,
): Promise<Attempt> {
  const started = Date.now();
  const at = new Date(started).toISOString();
  const begin = performance.now();
  const duration = (): number => Math.round(performance.now() - begin);
  try {
    const body = bodyOf(message);
    const timestamp = Math.floor(started / 1000);
    const response = await outbound.fetch(new URL(url), {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(body)),
        "user-agent": "Portico-Webhooks",
        ...signatureHeaders(keys, { id: message.id, timestamp, body }),
      },
      body,
    });
    const { status, headers } = response;
    const isSuccess = status >= 200 && status < 300;
    return {
      ...{ at, status, durationMs: duration() },
      error: isSuccess ? null : failureOf(status),
      response: storableText(response.body.toString()),
      retryAfterMs: isSuccess ? undefined : retryAfter(headers["retry-after"], started),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const failure = {
      error: storableText(reason.slice(0, maxErrorLength)),
      response: null,
      retryAfterMs: undefined,
    };
    return { at, status: null, durationMs: duration(), ...failure };
  }
}

/** Standard Webhooks, "Payload structure", with the id of the event. */
function bodyOf({ id, type, timestamp, data }: Message): string {
  return `{"id":${JSON.stringify(id)},"type":${JSON.stringify(type)},"timestamp":"${timestamp}","data":${data}}`;
}

function failureOf(status: number): string {
  if (status >= 300 && status < 400)
    return `The response has the status ${status}. Redirects are not followed.`;
  return `The response has the status ${status}.`;
}

/** Seconds, or an HTTP date (RFC 9110, section 10.2.3). */
function retryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const delayMs = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(delayMs) || delayMs <= 0 ? undefined : Math.min(delayMs, maxRetryAfterMs);
}

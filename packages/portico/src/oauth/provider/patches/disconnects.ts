// oidc-provider 9.13 is a Koa application, which emits "error" for whatever fails while a response is written, and writes
// it to the console if nobody listens. A client that disconnects is not a failure of the server, and must not fill its log.

import type { EventEmitter } from "node:events";
import type Provider from "oidc-provider";

const disconnectCodes: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE"]);

/** Logs Koa's errors, except for those of clients that disconnected. */
export function logKoaErrors(provider: Provider, logError: (error: unknown) => void): void {
  // The types of oidc-provider list its own events only.
  (provider as EventEmitter).on("error", (error) => {
    if (!isDisconnect(error)) logError(error);
  });
}

function isDisconnect(error: unknown): boolean {
  if (!(error instanceof Error) || !("headerSent" in error) || !("code" in error)) return false;
  return error.headerSent === true && disconnectCodes.has(error.code);
}

import type { IncomingHttpHeaders } from "node:http";

/** The headers that present a credential: those of a request, or of the message that opens a connection. */
export interface PresentedHeaders {
  readonly headers: IncomingHttpHeaders;
  /** Names and values alternate, as they were received. */
  readonly rawHeaders: string[];
}

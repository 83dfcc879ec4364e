// A request for a page or of a form, and the responses that page handlers send.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { AuthorizationServerDependencies, RunningProvider } from "../authorization-server.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import { type PagePolicy, pageHeaders } from "../pages/layout.ts";
import { errorPage } from "../pages/plain-pages.ts";
import type { PasskeyChallenges } from "./passkey-challenge.ts";

export interface PageContext extends AuthorizationServerDependencies, RunningProvider {
  /** Signs the tokens that protect forms against forgery. */
  readonly csrfKey: string;
  readonly challenges: PasskeyChallenges;
}

/** A request for a page, with its response. */
export interface PageRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The fields of a submitted form; undefined for other requests. */
  readonly form: URLSearchParams | undefined;
  readonly query: URLSearchParams;
  /** The network address of the client. */
  readonly address: string;
}

export type PageHandler = (context: PageContext, pageRequest: PageRequest) => Promise<void>;

/** Whether a page of another site sent the form, according to the browser (Fetch Metadata). */
export function isCrossSite({ request }: PageRequest): boolean {
  const fetchSite = request.headers["sec-fetch-site"];
  return fetchSite !== undefined && fetchSite !== "same-origin" && fetchSite !== "none";
}

export function sendPage(
  issuer: Issuer,
  { response }: PageRequest,
  status: number,
  page: string,
  policy: PagePolicy = {},
): void {
  const headers = { ...pageHeaders(issuer, policy), "Content-Type": "text/html; charset=utf-8" };
  response.writeHead(status, headers).end(page);
}

/** Redirects to a page after a form, so that reloading it does not submit the form again. */
export function redirectSeeOther(issuer: Issuer, { response }: PageRequest, path: string): void {
  response.writeHead(303, { Location: `${issuer.path}${path}`, "Cache-Control": "no-store" }).end();
}

/** Sends a static file, whose URL changes with its content. */
export function sendFile({ response }: PageRequest, type: string, content: string | Buffer): void {
  const headers = {
    "Content-Type": type,
    "Cache-Control": "public, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
    // For an SVG logo that is opened as a document.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  };
  response.writeHead(200, headers).end(content);
}

export function sendTooManyRequests(issuer: Issuer, pageRequest: PageRequest, seconds: number): void {
  pageRequest.response.setHeader("Retry-After", String(seconds));
  const body = { error: "temporarily_unavailable", error_description: tooManyAttemptsMessage(seconds) };
  sendPage(issuer, pageRequest, 429, errorPage(issuer, body));
}

export function sendRefusedForm(issuer: Issuer, pageRequest: PageRequest): void {
  sendPage(issuer, pageRequest, 403, errorPage(issuer, refusedForm));
}

const refusedForm = {
  error: "access_denied",
  error_description: "This form is no longer valid. Reload the page and try again.",
};

export function tooManyAttemptsMessage(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  return `Too many attempts. Try again in ${minutes === 1 ? "a minute" : `${minutes} minutes`}.`;
}

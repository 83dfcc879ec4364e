// A page that is asked for or a form that is sent, and what it takes to answer.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { AuthorizationServerDependencies, RunningProvider } from "../authorization-server.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import { type PagePolicy, pageHeaders } from "../pages/layout.ts";
import { errorPage } from "../pages/plain-pages.ts";
import type { PasskeyChallenges } from "./passkey-challenge.ts";

export interface PageContext extends AuthorizationServerDependencies, RunningProvider {
  /** What the tokens of forms are signed with. */
  readonly csrfKey: string;
  readonly challenges: PasskeyChallenges;
}

/** A request and where its answer goes. */
export interface PageRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The fields of a form; undefined where the page is only looked at. */
  readonly form: URLSearchParams | undefined;
  readonly query: URLSearchParams;
  readonly address: string;
}

export type PageHandler = (context: PageContext, pageRequest: PageRequest) => Promise<void>;

/** Browsers say of a form where it was sent from (Fetch Metadata). */
export function isCrossSite({ request }: PageRequest): boolean {
  const fetchSite = request.headers["sec-fetch-site"];
  return fetchSite !== undefined && fetchSite !== "same-origin" && fetchSite !== "none";
}

export function sendPage(
  issuer: Issuer,
  { response }: PageRequest,
  status: number,
  page: string,
  needs: PagePolicy = {},
): void {
  const headers = { ...pageHeaders(issuer, needs), "Content-Type": "text/html; charset=utf-8" };
  response.writeHead(status, headers).end(page);
}

/** What a form did is seen on the page that comes next; to load that one again sends nothing twice. */
export function redirectSeeOther(issuer: Issuer, { response }: PageRequest, path: string): void {
  response.writeHead(303, { Location: `${issuer.path}${path}`, "Cache-Control": "no-store" }).end();
}

/** A file of the pages, whose address changes with what is in it. */
export function sendFile({ response }: PageRequest, type: string, content: string | Buffer): void {
  const headers = {
    "Content-Type": type,
    "Cache-Control": "public, max-age=31536000, immutable",
    "X-Content-Type-Options": "nosniff",
    // A picture that somebody opens by itself can do nothing either.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  };
  response.writeHead(200, headers).end(content);
}

/** Someone who tries too often is told how long to wait. */
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
  error_description: "The form does not belong to this page, or what it names is gone.",
};

export function tooManyAttemptsMessage(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  return `Too many tries. Wait ${minutes === 1 ? "a minute" : `${minutes} minutes`}, then try again.`;
}

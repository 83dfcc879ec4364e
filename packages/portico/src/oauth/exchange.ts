// A page that is asked for or a form that is sent, and what it takes to answer.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { AuthorizationServerParts, Running } from "./authorization-server.ts";
import { type PageNeeds, pageHeaders } from "./pages/layout.ts";
import { errorPage } from "./pages/plain-pages.ts";
import type { PasskeyChallenges } from "./passkey-challenge.ts";
import type { Site } from "./site.ts";

export interface PageParts extends AuthorizationServerParts, Running {
  /** What the tokens of forms are signed with. */
  readonly csrfKey: string;
  readonly challenges: PasskeyChallenges;
}

/** A request and where its answer goes. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The fields of a form; undefined where the page is only looked at. */
  readonly form: URLSearchParams | undefined;
  readonly query: URLSearchParams;
  readonly address: string;
}

export type PageHandler = (parts: PageParts, exchange: Exchange) => Promise<void>;

/** Browsers say of a form where it was sent from (Fetch Metadata). */
export function isFromElsewhere({ request }: Exchange): boolean {
  const site = request.headers["sec-fetch-site"];
  return site !== undefined && site !== "same-origin" && site !== "none";
}

export function show(
  site: Site,
  { response }: Exchange,
  status: number,
  page: string,
  needs: PageNeeds = {},
): void {
  const headers = { ...pageHeaders(site, needs), "Content-Type": "text/html; charset=utf-8" };
  response.writeHead(status, headers).end(page);
}

/** What a form did is seen on the page that comes next; to load that one again sends nothing twice. */
export function seeOther(site: Site, { response }: Exchange, path: string): void {
  response.writeHead(303, { Location: `${site.path}${path}`, "Cache-Control": "no-store" }).end();
}

/** A file of the pages, whose address changes with what is in it. */
export function showFile({ response }: Exchange, type: string, content: string | Buffer): void {
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
export function showTooMany(site: Site, exchange: Exchange, seconds: number): void {
  exchange.response.setHeader("Retry-After", String(seconds));
  const told = { error: "temporarily_unavailable", error_description: tooManyTries(seconds) };
  show(site, exchange, 429, errorPage(site, told));
}

export function showRefusedForm(site: Site, exchange: Exchange): void {
  show(site, exchange, 403, errorPage(site, refusedForm));
}

const refusedForm = {
  error: "access_denied",
  error_description: "The form does not belong to this page, or what it names is gone.",
};

export function tooManyTries(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  return `Too many tries. Wait ${minutes === 1 ? "a minute" : `${minutes} minutes`}, then try again.`;
}

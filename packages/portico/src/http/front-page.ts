// The front page at `/`, with links to the API: HTML for browsers, JSON for programs.

import type { FastifyInstance, FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import { openApiPath, referencePath } from "../api/paths.ts";
import { html } from "../lib/html.ts";
import type { Issuer } from "../oauth/endpoints/issuer.ts";
import { page, pageHeaders } from "../oauth/pages/layout.ts";

const mediaTypes = ["application/json", "text/html"];

/**
 * Registers `GET /`. It needs no credential, so it does not mention the declared resources.
 *
 * @param count counts the request towards the quota of its address
 * @param servesDocs whether the API describes itself
 */
export function registerFrontPage(
  server: FastifyInstance,
  issuer: Promise<Issuer>,
  count: (request: FastifyRequest) => Promise<void>,
  servesDocs: boolean,
): void {
  server.get("/", { config: { mediaTypes } }, async (request, reply) => {
    await count(request);
    const known = await issuer;
    // RFC 8631, section 3.2
    reply.header("Vary", "Accept");
    if (servesDocs) reply.header("Link", descriptionLinks(known));
    if (!prefersPage(request.headers.accept)) return linksOf(known, servesDocs);
    reply.headers({ ...pageHeaders(known), "Content-Type": "text/html; charset=utf-8" });
    return pageOf(known, servesDocs);
  });
}

/** The `Link` header to the descriptions of the API, for programs and for people (RFC 8631). */
function descriptionLinks({ resource }: Issuer): string {
  return `<${resource}${openApiPath}>; rel="service-desc", <${resource}${referencePath}>; rel="service-doc"`;
}

/** A caller without a preference receives JSON. */
function prefersPage(accept: string | undefined): boolean {
  if (accept === undefined || !accept.includes("text/html")) return false;
  return new Negotiator({ headers: { accept } }).mediaType(mediaTypes) === "text/html";
}

function linksOf({ brand, issuer, resource }: Issuer, servesDocs: boolean) {
  return {
    name: brand.name,
    links: {
      ...(servesDocs && { docs: resource + referencePath, openapi: resource + openApiPath }),
      graphql: `${resource}/graphql`,
      users: `${resource}/users`,
      health: `${resource}/healthz`,
      oauthProtectedResource: `${resource}/.well-known/oauth-protected-resource`,
      openidConfiguration: `${issuer}/.well-known/openid-configuration`,
    },
  };
}

function pageOf(issuer: Issuer, servesDocs: boolean): string {
  const { name } = issuer.brand;
  const { links } = linksOf(issuer, servesDocs);
  return page(
    issuer,
    "API",
    html`<h1>${name}</h1>
<p>This is an API. Every request needs an API key or an access token:</p>
<p><code>curl ${links.users} -H 'Authorization: Bearer YOUR_KEY'</code></p>
<p>The same resources are available over REST and GraphQL.</p>
<nav>
<ul>
${
  servesDocs
    ? html`<li><a href="${links.docs}">Reference of all operations</a></li>
<li><a href="${links.openapi}">OpenAPI description</a></li>
`
    : undefined
}<li><a href="${links.graphql}">GraphiQL, to write queries in the browser</a></li>
<li><a href="${links.openidConfiguration}">OpenID Connect configuration</a></li>
<li><a href="${links.health}">Health</a></li>
</ul>
</nav>
`,
  );
}

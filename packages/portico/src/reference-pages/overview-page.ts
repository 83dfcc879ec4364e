// The first page: where the API is, how to authenticate, and what all operations have in common.

import { openApiPath } from "../api/paths.ts";
import { type Html, html } from "../lib/html.ts";
import { inline } from "./markdown.ts";
import { samplesView } from "./operation-view.ts";
import { sampleRequest } from "./sample-request.ts";
import type { Page, Site } from "./site.ts";

export const overviewPage: Page = {
  path: "",
  title: "Overview",
  parts: [
    { anchor: "authentication", title: "Authentication" },
    { anchor: "scopes", title: "Scopes" },
    { anchor: "lists", title: "Lists" },
    { anchor: "writes", title: "Writes" },
    { anchor: "versions", title: "Versions" },
  ],
  render: (site) => html`<h1 tabindex="-1">${site.name}</h1>
<section class="operation" aria-label="Begin">
<div class="about">
<p>The API is at <code>${site.urls.resource}</code>. Requests and responses are JSON in UTF-8. Every operation has a form
that sends a request, with the key that you enter; the key stays in the page until you leave it.</p>
<ul>
<li><a href="${site.basePath}${openApiPath}">OpenAPI description</a> of all operations, for generators and tools</li>
<li><a href="${site.path}/graphql">GraphQL</a> for the same rows, with <a href="${site.basePath}/graphql">GraphiQL</a></li>
<li><a href="${site.path}/webhooks">Webhooks</a> for what happens to them</li>
<li><a href="${site.path}/errors">Errors</a> and <a href="${site.path}/quotas">quotas</a></li>
</ul>
${authentication(site)}</div>
<div class="examples">
${firstRequest(site)}</div>
</section>
${scopes(site)}${conventions}`,
};

/** The first operation that lists rows, or the first one that reads. */
function firstRequest({ contents }: Site): Html | undefined {
  const reads = contents.sections
    .flatMap(({ operations }) => operations)
    .filter(({ method, path }) => method === "GET" && !path.includes("{"));
  const first = reads.find(({ operation }) => operation.operationId.startsWith("list")) ?? reads[0];
  return first && samplesView("first-request", sampleRequest(first, contents));
}

function authentication({ contents, urls }: Site): Html {
  const schemes = Object.values(contents.description.components.securitySchemes) as readonly {
    readonly description?: string;
    /** Of the header, for a scheme with a header of its own. */
    readonly name?: string;
  }[];
  const described = schemes.flatMap(({ description = "", name }) =>
    name === undefined ? description : `${description} Header: \`${name}\`.`,
  );
  return html`<h2 id="authentication" tabindex="-1">Authentication</h2>
<ul>
${described.map((text) => html`<li>${inline(text)}</li>\n`)}</ul>
<p>Applications that act for users get access tokens from the authorization server at <code>${urls.issuer}</code>;
<a href="${urls.issuer}/.well-known/openid-configuration">its metadata</a> lists all endpoints. Never send a credential in
a URL: such requests are refused.</p>
`;
}

function scopes({ contents }: Site): Html {
  const schemes = contents.description.components.securitySchemes as Readonly<
    Record<
      string,
      { readonly flows?: Readonly<Record<string, { readonly scopes?: Readonly<Record<string, string>> }>> }
    >
  >;
  const named = new Map(
    Object.values(schemes).flatMap(({ flows = {} }) =>
      Object.values(flows).flatMap(({ scopes: ofFlow = {} }) => Object.entries(ofFlow)),
    ),
  );
  return html`<h2 id="scopes" tabindex="-1">Scopes</h2>
<p>A credential has scopes, and each operation names the one that it needs. Without it, the response is 403
<code>insufficient_scope</code>.</p>
<dl class="fields text">
${[...named].map(
  ([scope, text]) => html`<div class="field"><dt><code>${scope}</code></dt><dd>${inline(text)}</dd></div>\n`,
)}</dl>
`;
}

const conventions = html`<h2 id="lists" tabindex="-1">Lists</h2>
<p>A list returns a page of rows in <code>data</code>. <code>limit</code> sets how many. While
<code>pagination.hasMore</code> is true, send <code>pagination.nextCursor</code> as <code>cursor</code> for the next page; a
cursor belongs to its list, filters and sort. Lists with <code>page</code> and <code>perPage</code> also return
<code>pagination.total</code>.</p>
<ul>
<li><code>sort=-createdAt,title</code> sorts by several fields; a minus sorts in descending order.</li>
<li><code>fields=id,title</code> returns only these fields, <code>author.name</code> also one of a related row.</li>
<li>Filters are the names of fields: <code>status=draft</code>. A repeated filter means any of its values. Operators are in
brackets: <code>createdAt[gte]=2026-01-01T00:00:00Z</code>.</li>
</ul>
<p>Unknown parameters are refused, never ignored.</p>
<h2 id="writes" tabindex="-1">Writes</h2>
<ul>
<li>PATCH changes the fields that are sent (JSON Merge Patch, RFC 7396). PUT resets those that are left out.</li>
<li>A row has an <code>ETag</code>. With <code>If-Match</code> a write is refused with 412 if the row has changed since.
With <code>If-None-Match</code> a read returns 304 if it has not.</li>
<li>POST and PATCH with an <code>Idempotency-Key</code> run once, however often they are sent. A repeated request gets the
stored response, with the header <code>Idempotent-Replayed</code>.</li>
</ul>
<h2 id="versions" tabindex="-1">Versions</h2>
<p>Paths begin with a version. What is deprecated is marked so on these pages, and its responses have the headers
<code>Deprecation</code> and <code>Sunset</code>, the time from which it may be gone.</p>
`;

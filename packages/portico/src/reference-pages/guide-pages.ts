// The pages about errors, quotas and shared schemas.

import { catalogue, type ErrorCode, type Issue, issues } from "../errors.ts";
import { type Html, html } from "../lib/html.ts";
import { bytesOfToken } from "../query/answer-size.ts";
import { inline } from "./markdown.ts";
import { schemaView } from "./schema-view.ts";
import type { Page, Site } from "./site.ts";

const errorExample = {
  error: {
    code: "validation_error",
    message: "The request is invalid; see details.",
    details: [{ field: "title", issue: "required" }],
  },
};

/** What each issue means. */
const meanings: Readonly<Record<Issue, string>> = {
  required: "is missing",
  unknown: "is not a field, parameter or filter",
  type: "has another type, such as text for a number",
  min: "is too small, too short or too few",
  max: "is too large, too long or too many",
  format: "is not an address, URL, date or pattern as described",
  choice: "is not one of the allowed values",
  duplicate: "is taken by another row, contains a value twice, or is a parameter sent twice",
  reference: "refers to a row that does not exist, or that the caller is not allowed to see",
  read_only: "is set by the server, or can only be set on creation",
};

/** Errors after which the same request may succeed later. */
const transient: ReadonlySet<ErrorCode> = new Set([
  "request_timeout",
  "idempotency_in_progress",
  "rate_limited",
  "internal_error",
  "unavailable",
]);

export const errorsPage: Page = {
  path: "/errors",
  title: "Errors",
  parts: [
    { anchor: "codes", title: "Codes" },
    { anchor: "issues", title: "Issues" },
  ],
  render: () => html`<h1 tabindex="-1">Errors</h1>
<p>Every error has the same shape. <code>code</code> is for programs and does not change. <code>message</code> is for
people and may change. <code>details</code> names each invalid field or parameter, with an issue of one word.</p>
<pre><code>${JSON.stringify(errorExample, null, 2)}</code></pre>
<p>The header <code>X-Request-Id</code> of each response names the request in the log of the server. The endpoints of the
authorization server have the error shape of OAuth instead: <code>error</code> and <code>error_description</code>.</p>
<h2 id="codes" tabindex="-1">Codes</h2>
<dl class="fields">
${(Object.entries(catalogue) as [ErrorCode, readonly [number, string]][]).map(
  ([code, [status, message]]) => html`<div class="field" id="${code}" tabindex="-1">
<dt><span class="status">${status}</span> <code>${code}</code></dt>
<dd><p>${inline(message)}</p>${transient.has(code) ? html`<p class="rules">Try again later: after the seconds in <code>Retry-After</code>, if the response has it.</p>` : undefined}</dd>
</div>
`,
)}</dl>
<h2 id="issues" tabindex="-1">Issues</h2>
<p>In <code>details</code>, the field …</p>
<dl class="fields">
${issues.map((issue) => html`<div class="field"><dt><code>${issue}</code></dt><dd>${meanings[issue]}</dd></div>\n`)}</dl>
`,
};

export const quotasPage: Page = {
  path: "/quotas",
  title: "Quotas",
  parts: [],
  render: ({ keyQuota, failedAuthQuota }: Site): Html => {
    const { limit, windowSeconds } = keyQuota;
    return html`<h1 tabindex="-1">Quotas</h1>
<p>A credential may send ${limit} requests in ${windowSeconds} seconds, unless it has a quota of its own. The quota is a
token bucket: a request takes one token, and tokens return evenly, so that a burst of ${limit} is possible at once.</p>
<dl class="fields">
<div class="field"><dt><code>RateLimit-Policy</code></dt><dd>the quota: <code>"default";q=${limit};w=${windowSeconds}</code>, requests and
the seconds of their window</dd></div>
<div class="field"><dt><code>RateLimit</code></dt><dd>what is left: <code>"default";r=${limit - 1};t=1</code>, requests and the seconds
until all of them are back</dd></div>
<div class="field"><dt><code>Retry-After</code></dt><dd>on 429: seconds until the next request is allowed</dd></div>
</dl>
<h2 id="over" tabindex="-1">Over the quota</h2>
<p>The response is 429 <code>rate_limited</code>. Nothing else has happened, and the request took no token.
Wait for the seconds in <code>Retry-After</code>, then send it again.</p>
<h2 id="costs" tabindex="-1">What costs more</h2>
<ul>
<li>A response of more than ${bytesOfToken / 1024} KiB takes one more token for each further ${bytesOfToken / 1024} KiB.</li>
<li>A GraphQL operation takes one more token for each full 100 rows of its cost, and for each mutation after the first.</li>
<li>A subscription takes one token for each ${bytesOfToken / 1024} KiB that it sends.</li>
</ul>
<h2 id="refused" tabindex="-1">Refused credentials</h2>
<p>An address may send ${failedAuthQuota.limit} invalid credentials in ${failedAuthQuota.windowSeconds} seconds; then they
are answered with 429.</p>
`;
  },
};

export const schemasPage: Page = {
  path: "/schemas",
  title: "Shared schemas",
  parts: [],
  render: (site) => html`<h1 tabindex="-1">Shared schemas</h1>
<p>Schemas that the operations of several pages use.</p>
${site.contents.sharedSchemas.map((name) => schemaView(name, site, false))}`,
};

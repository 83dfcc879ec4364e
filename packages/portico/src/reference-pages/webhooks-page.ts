// The page about webhooks: what a receiver gets, how it verifies a delivery, and the types of events.

import { type Html, html } from "../lib/html.ts";
import type { OperationObject } from "../openapi/description.ts";
import { blocks } from "./markdown.ts";
import { typeView } from "./schema-view.ts";
import type { Page, Site } from "./site.ts";
import { verification } from "./webhook-verification.ts";

export const webhooksPage: Page = {
  path: "/webhooks",
  title: "Webhooks",
  parts: [
    { anchor: "verify", title: "Verify a delivery" },
    { anchor: "answer", title: "Answer" },
    { anchor: "events", title: "Events" },
  ],
  render: (site) => html`<h1 tabindex="-1">Webhooks</h1>
<p>A webhook endpoint is a URL to which the server sends events: a row was created, updated or deleted. Deliveries follow
Standard Webhooks (standardwebhooks.com), whose libraries verify them in many languages. An endpoint gets the events that
the credential that created it may see.</p>
<section class="operation" aria-labelledby="verify">
<div class="about">
<h2 id="verify" tabindex="-1">Verify a delivery</h2>
<p>A signature is <code>v1,</code> and the base64 of the HMAC-SHA-256 of <code>{webhook-id}.{webhook-timestamp}.{body}</code>. The
key is what the base64 after <code>whsec_</code> decodes to. While a secret is rotated, the header has several signatures,
separated by spaces; one of them must match.</p>
<p>Use the body exactly as it was received, before it is parsed, and refuse deliveries that are older than five minutes.</p>
<dl class="fields">
<div class="field"><dt><code>webhook-id</code></dt><dd>the id of the event. A repeated delivery has the same: keep the ids of handled
events, because every event can arrive several times</dd></div>
<div class="field"><dt><code>webhook-timestamp</code></dt><dd>the time of the attempt, in seconds since 1970</dd></div>
<div class="field"><dt><code>webhook-signature</code></dt><dd>the signatures</dd></div>
</dl>
<h2 id="answer" tabindex="-1">Answer</h2>
<ul>
<li>A status from 200 to 299, within ${site.deliveries.timeoutSeconds} seconds, is a success. Do long work afterwards.</li>
<li>Any other answer is a failure. The delivery is repeated ${retries(site)}.</li>
<li>410 disables the endpoint.</li>
</ul>
<p>Events of one row arrive in order, events of different rows in any order.</p>
</div>
<div class="examples">
<div class="samples">
${Object.entries(verification).map(
  ([language, code]) => html`<div class="sample" id="verify-${language}" data-language="${language}">
<h3>${language}</h3>
<pre><code>${code}</code></pre>
</div>
`,
)}</div>
<div class="answer">
<h3>Delivery</h3>
<pre><code>${delivery}</code></pre>
</div>
</div>
</section>
${eventsView(site)}`,
};

const delivery = `POST /hooks HTTP/1.1
content-type: application/json
webhook-id: event_01m7ym7cg9e6ws2m9xnmqdf36d
webhook-timestamp: 1795341600
webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=

{"id":"event_01m7ym7cg9e6ws2m9xnmqdf36d","type":"post.created",
"timestamp":"2026-11-22T10:00:00.000Z","data":{"id":"post_…"}}`;

/** `after 5 seconds, 5 minutes and 2 hours` */
function retries({ deliveries }: Site): string {
  const delays = deliveries.schedule.slice(1).map(duration);
  const last = delays.pop();
  if (last === undefined) return "never";
  return `after ${delays.length === 0 ? last : `${delays.join(", ")} and ${last}`}`;
}

function duration(seconds: number): string {
  const [size, unit] = (
    [
      [3600, "hour"],
      [60, "minute"],
      [1, "second"],
    ] as const
  ).find(([each]) => seconds >= each && seconds % each === 0) ?? [1, "second"];
  const count = seconds / size;
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** The types of events, with the schemas of their bodies. */
function eventsView(site: Site): Html {
  const webhooks = Object.entries(site.contents.description.webhooks ?? {});
  return html`<h2 id="events" tabindex="-1">Events</h2>
<p>An endpoint names the types of the events that it gets; <code>post.*</code> are all events of posts, <code>*</code> all
events. The body has <code>id</code>, <code>type</code>, <code>timestamp</code> and, in <code>data</code>, the row: as it was
after the write, or before it was deleted.</p>
<dl class="fields">
${webhooks.map(([type, { post }]) => (post ? eventView(type, post, site) : html``))}</dl>
`;
}

function eventView(type: string, operation: OperationObject, site: Site): Html {
  const body = operation.requestBody && site.contents.resolve(operation.requestBody);
  const schema = body?.content["application/json"]?.schema;
  return html`<div class="field" id="event-${type}" tabindex="-1">
<dt><code>${type}</code> <span class="type">${schema && typeView(schema, site)}</span></dt>
<dd>${blocks(operation.description ?? operation.summary)}</dd>
</div>
`;
}

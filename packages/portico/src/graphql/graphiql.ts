// GraphiQL, the page on which a person writes queries. It is served whole from its package: no other host is asked for
// anything, and its Content-Security-Policy (W3C, level 3) forbids it.

import { hash } from "node:crypto";

export interface Page {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

const made = new Map<string, Promise<Page>>();

/** The page for an endpoint. It is nine megabytes, so it is loaded when somebody first asks for it. */
export function graphiqlPage(endpoint: string): Promise<Page> {
  const known = made.get(endpoint) ?? makePage(endpoint);
  made.set(endpoint, known);
  return known;
}

const firstQuery = `# Put an API key into the header Authorization below: "Bearer sk_test_..."
{
  __typename
}
`;

async function makePage(endpoint: string): Promise<Page> {
  const { renderGraphiQL } = await import("@graphql-yoga/render-graphiql");
  const html = renderGraphiQL({
    title: "GraphiQL",
    endpoint,
    headers: '{ "Authorization": "Bearer " }',
    defaultQuery: firstQuery,
    // What stays in a browser would outlive the credential in it.
    shouldPersistHeaders: false,
  }).trimStart();
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hash("sha256", inlineScript(html), "base64")}'`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src data:",
    "worker-src blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    html,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": policy.join("; "),
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      Vary: "Accept",
    },
  };
}

/** The one script of the page, byte for byte as browsers hash it. */
function inlineScript(html: string): string {
  const start = html.indexOf("<script>") + "<script>".length;
  return html.slice(start, html.indexOf("</script>", start));
}

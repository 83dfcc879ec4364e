// GraphiQL, the page on which a person writes queries. It is served from its package: no other host is asked for
// anything, and its Content-Security-Policy (W3C, level 3) forbids it.

import type { FastifyRequest } from "fastify";
import { graphiqlAddresses } from "./graphiql-files.ts";

const firstQuery = `{
  __typename
}
`;

const formStyle = `
#key-form { max-width: 24rem; margin: 20vh auto 0; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
#key-form input, #key-form button { display: block; box-sizing: border-box; width: 100%; margin: .25rem 0 .75rem; padding: .6rem; font: inherit; }
#refusal { min-height: 1.5em; color: #b3261e; }
@media (prefers-color-scheme: dark) { body { background: #0d1117; color: #e6edf3; } #refusal { color: #ffb4ab; } }
`;

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  // The editor makes style sheets while it runs.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

export const pageHeaders: Readonly<Record<string, string>> = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": policy.join("; "),
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  // It names files that are kept for good, and another version of the server has others.
  "Cache-Control": "no-cache",
  Vary: "Accept",
};

/**
 * The page as HTML, without a script of its own.
 *
 * @param endpoint where it sends queries: `/graphql`
 * @param files where its files are: `/graphql/files`
 */
export async function graphiqlPage(
  request: FastifyRequest,
  endpoint: string,
  files: string,
): Promise<string> {
  const addresses = await graphiqlAddresses(request);
  const start = {
    workers: {
      editorWorkerService: `${files}/${addresses["editor-worker.js"]}`,
      graphql: `${files}/${addresses["graphql-worker.js"]}`,
      json: `${files}/${addresses["json-worker.js"]}`,
    },
    options: {
      title: "GraphiQL",
      endpoint,
      defaultQuery: firstQuery,
      // What stays in a browser would outlive the credential in it.
      shouldPersistHeaders: false,
    },
  };
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>GraphiQL</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${files}/${addresses["graphiql.css"]}">
<style>${formStyle}</style>
<script id="start" type="application/json">${JSON.stringify(start).replaceAll("<", "\\u003c")}</script>
<script src="${files}/${addresses["graphiql.js"]}" defer></script>
</head>
<body id="body" class="no-focus-outline">
<noscript>GraphiQL needs JavaScript.</noscript>
<form id="key-form" hidden>
<h1>GraphiQL</h1>
<label for="key">API key or access token</label>
<input id="key" type="password" autocomplete="off" spellcheck="false" required>
<button>Open</button>
<p id="refusal" role="alert"></p>
</form>
<div id="root"></div>
</body>
</html>
`;
}

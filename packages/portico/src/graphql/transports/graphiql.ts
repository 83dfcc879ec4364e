// GraphiQL, the query editor. It is served from its package; its Content-Security-Policy (W3C, level 3) forbids requests
// to other hosts.

import type { FastifyRequest } from "fastify";
import { graphiqlFileNames } from "./graphiql-files.ts";

const firstQuery = `{
  __typename
}
`;

// As the pages of the authorization server.
const formStyle = `
#key-form { --accent: #0b57d0; --on-accent: #fff; --error: #b3261e; max-width: 24rem; margin: 20vh auto 0; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
#key-form input, #key-form button { display: block; box-sizing: border-box; width: 100%; margin: .25rem 0 .75rem; padding: .65rem .75rem; font: inherit; border: 1px solid #8c959f; border-radius: .4rem; }
#key-form input { color: inherit; background: transparent; }
#key-form button { font-weight: 600; color: var(--on-accent); background: var(--accent); border-color: var(--accent); cursor: pointer; }
#key-form :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
#key-error { min-height: 1.5em; color: var(--error); }
@media (prefers-color-scheme: dark) {
  body { background: #0d1117; color: #e6edf3; }
  #key-form { --accent: #8ab4f8; --on-accent: #000; --error: #ffb4ab; }
}
`;

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  // The editor creates style sheets at run time.
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
  // The page refers to files of this version of the server.
  "Cache-Control": "no-cache",
  Vary: "Accept",
};

/**
 * The HTML page, without inline scripts.
 *
 * @param endpoint the path of queries: `/graphql`
 * @param files the path of its files: `/graphql/files`
 */
export async function graphiqlPage(
  request: FastifyRequest,
  endpoint: string,
  files: string,
): Promise<string> {
  const names = await graphiqlFileNames(request);
  const start = {
    workers: {
      editorWorkerService: `${files}/${names["editor-worker.js"]}`,
      graphql: `${files}/${names["graphql-worker.js"]}`,
      json: `${files}/${names["json-worker.js"]}`,
    },
    options: {
      title: "GraphiQL",
      endpoint,
      defaultQuery: firstQuery,
      // The headers contain the credential.
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
<link rel="stylesheet" href="${files}/${names["graphiql.css"]}">
<style>${formStyle}</style>
<script id="start" type="application/json">${JSON.stringify(start).replaceAll("<", "\\u003c")}</script>
<script src="${files}/${names["graphiql.js"]}" defer></script>
</head>
<body id="body" class="no-focus-outline">
<noscript>GraphiQL needs JavaScript.</noscript>
<form id="key-form" hidden>
<h1>GraphiQL</h1>
<label for="key">API key or access token</label>
<input id="key" type="password" autocomplete="off" spellcheck="false" required>
<button>Open</button>
<p id="key-error" role="alert"></p>
</form>
<div id="root"></div>
</body>
</html>
`;
}

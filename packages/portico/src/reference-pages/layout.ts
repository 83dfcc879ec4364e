// The frame of a reference page: the header with the search, and the navigation.

import { openApiPath } from "../api/paths.ts";
import { type Html, html } from "../lib/html.ts";
import type { Page, Site } from "./site.ts";

/** The complete document of a page. @param pages all of them, the guides first */
export function documentOf(page: Page, pages: PageList, site: Site): string {
  const { name, logo, path, basePath, files } = site;
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.title} – ${name}</title>
<link rel="icon" href="data:,">
<link rel="service-desc" type="application/json" href="${basePath}${openApiPath}">
<link rel="stylesheet" href="${files}/frame.css">
<link rel="stylesheet" href="${files}/content.css">
<script type="module" src="${files}/reference.js"></script>
</head>
<body data-path="${path}" data-api="${basePath}">
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="name" href="${path}">${logo === undefined ? undefined : html`<img src="${logo}" alt="">`}${name}</a>
<div class="search" role="search">
<label class="hidden" for="search">Search the reference</label>
<input id="search" type="search" placeholder="Search  /" autocomplete="off" spellcheck="false" maxlength="100">
<p class="hidden" role="status" id="found"></p>
<ul id="results" hidden></ul>
</div>
<button type="button" id="menu" aria-expanded="false" aria-controls="pages">Menu</button>
</header>
<nav id="pages" class="pages" aria-label="Pages">
${navigation(page, pages, path)}</nav>
<main id="content" tabindex="-1">
${page.render(site)}</main>
</body>
</html>
`.text;
}

export interface PageList {
  readonly guides: readonly Page[];
  readonly sections: readonly Page[];
}

function navigation(shown: Page, { guides, sections }: PageList, path: string): Html {
  const list = (pages: readonly Page[]): Html =>
    html`<ul>
${pages.map((page) => pageLink(page, page === shown, path))}</ul>
`;
  return html`${list(guides)}<h2>Operations</h2>
${list(sections)}`;
}

function pageLink({ path: below, title, parts }: Page, isShown: boolean, path: string): Html {
  const url = `${path}${below}`;
  if (!isShown) return html`<li><a href="${url}">${title}</a></li>\n`;
  return html`<li><a href="${url}" aria-current="page">${title}</a>
${
  parts.length === 0
    ? undefined
    : html`<ul class="parts">
${parts.map((part) => html`<li><a href="${url}#${part.anchor}">${part.title}</a></li>\n`)}</ul>
`
}</li>
`;
}

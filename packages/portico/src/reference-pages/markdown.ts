// The Markdown that descriptions use: paragraphs, lists, code and links.

import { Html, html } from "../lib/html.ts";

/** Renders a description as blocks. Everything else that it contains is text. */
export function blocks(text: string): Html {
  const parts = text
    .split(/\n{2,}|\n(?=- )/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
  const rendered: Html[] = [];
  for (let index = 0; index < parts.length; index += 1) {
    const items: Html[] = [];
    for (; parts[index]?.startsWith("- "); index += 1)
      items.push(html`<li>${inline(parts[index]!.slice(2))}</li>\n`);
    if (items.length > 0) rendered.push(html`<ul>\n${items}</ul>\n`);
    if (index < parts.length) rendered.push(html`<p>${inline(parts[index]!)}</p>\n`);
  }
  return html`${rendered}`;
}

/** Code, or a link to another page. Anything else in brackets is text. */
const special = /`([^`]+)`|\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)/g;

/** Renders a line. */
export function inline(text: string): Html {
  const parts: Html[] = [];
  let end = 0;
  for (const match of text.matchAll(special)) {
    const [all, code, label, url] = match;
    parts.push(html`${text.slice(end, match.index)}`);
    parts.push(code === undefined ? html`<a href="${url}">${label}</a>` : html`<code>${code}</code>`);
    end = match.index + all.length;
  }
  parts.push(html`${text.slice(end)}`);
  return new Html(parts.map((part) => part.text).join(""));
}

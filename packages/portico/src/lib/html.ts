// HTML with automatic escaping.

import { escapeHtml } from "./escape-html.ts";

/** Text that is HTML already and is not escaped. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Html | undefined | readonly Html[];

/** HTML in which every value is escaped unless it is `Html`. `` html`<p>${name}</p>` `` */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.map((text, index) => text + renderPart(parts[index])).join(""));
}

function renderPart(part: Part): string {
  if (part === undefined) return "";
  if (part instanceof Html) return part.text;
  if (typeof part === "object") return part.map(({ text }) => text).join("");
  return escapeHtml(String(part));
}

// What all pages share: one style sheet, and security headers.

import { hash } from "node:crypto";
import { Html, html } from "../../lib/html.ts";
import type { Issuer } from "../endpoints/issuer.ts";
import { type Accent, accentOn } from "./accent.ts";

const backgrounds = { light: "#ffffff", dark: "#1c2128" } as const;
/** The default accent colours, for each background. */
const accents: Readonly<Record<keyof typeof backgrounds, Accent>> = {
  light: { colour: "#0b57d0", onColour: "#ffffff" },
  dark: { colour: "#8ab4f8", onColour: "#0d1117" },
};

/** The colours of pages, light and dark, as CSS variables. @param accent that of the brand; undefined for the default */
export function themeRules(accent: string | undefined): string {
  const colours = (theme: keyof typeof backgrounds): string => {
    const { colour, onColour } = accent === undefined ? accents[theme] : accentOn(backgrounds[theme], accent);
    return `--background: ${backgrounds[theme]}; --accent: ${colour}; --on-accent: ${onColour};`;
  };
  return `:root { color-scheme: light dark; ${colours("light")} --page: #f3f4f6; --text: #1b1f24; --secondary: #57606a; --line: #8c959f; --error: #b3261e; }
@media (prefers-color-scheme: dark) { :root { ${colours("dark")} --page: #0d1117; --text: #e6edf3; --secondary: #9ea7b3; --line: #6e7681; --error: #ffb4ab; } }`;
}

function styleText(accent: string | undefined): string {
  return `
${themeRules(accent)}
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; min-height: 100vh; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; display: grid; place-items: center; }
main { width: 100%; max-width: 26rem; padding: 1.75rem; border-radius: .75rem; background: var(--background); box-shadow: 0 1px 4px #0004; overflow-wrap: anywhere; }
.logo { display: block; max-width: 100%; max-height: 4rem; margin: 0 0 1rem; }
h1 { margin: 0 0 .75rem; font-size: 1.4rem; line-height: 1.25; }
h2 { margin: 1.25rem 0 .25rem; font-size: 1.1rem; }
h3 { margin: 1.25rem 0 .25rem; font-size: 1rem; }
a { color: var(--accent); }
p { margin: 0 0 1rem; }
ul { margin: 0 0 1rem; padding-left: 1.25rem; }
section { margin: 0 0 1.25rem; }
summary { margin: 0 0 .5rem; color: var(--accent); cursor: pointer; }
nav { margin: 1.5rem 0 0; padding: 1rem 0 0; border-top: 1px solid var(--line); }
nav ul { margin: 0; padding: 0; list-style: none; line-height: 2; }
label { display: block; margin: 0 0 1rem; font-weight: 600; }
input:not([type=hidden]), textarea { display: block; width: 100%; margin-top: .25rem; padding: .65rem .75rem; font: inherit; font-weight: 400; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: .4rem; }
select { display: block; width: 100%; margin-top: .25rem; padding: .65rem .75rem; font: inherit; font-weight: 400; color: inherit; background: var(--background); border: 1px solid var(--line); border-radius: .4rem; }
label.choice { font-weight: 400; }
label.choice input:not([type=hidden]) { display: inline; width: auto; margin: 0 .4rem 0 0; }
button { width: 100%; margin: 0 0 .6rem; padding: .7rem 1rem; font: inherit; font-weight: 600; border-radius: .4rem; border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); cursor: pointer; }
button.other { background: transparent; color: var(--text); border-color: var(--line); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
[hidden] { display: none; }
.secondary { color: var(--secondary); font-size: .9rem; }
.error { color: var(--error); font-weight: 600; }
.code { font: 600 1.6rem/1.2 ui-monospace, monospace; letter-spacing: .1em; text-align: center; }
`;
}

interface Style {
  readonly text: string;
  readonly hash: string;
}

const styles = new WeakMap<Issuer, Style>();

function styleOf(issuer: Issuer): Style {
  const cached = styles.get(issuer);
  if (cached) return cached;
  const text = styleText(issuer.brand.accent);
  const style = { text, hash: hash("sha256", text, "base64") };
  styles.set(issuer, style);
  return style;
}

export const logoPath = "/logo";

function logoOf({ path, brand: { name, logo } }: Issuer): Html | undefined {
  return logo && html`<img class="logo" src="${path}${logoPath}?v=${logo.version}" alt="${name}">\n`;
}

/** A complete HTML document. */
export function page(issuer: Issuer, title: string, body: Html): string {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – ${issuer.brand.name}</title>
<style>${new Html(styleOf(issuer).text)}</style>
</head>
<body>
<main>
${logoOf(issuer)}${body}
</main>
</body>
</html>
`.text;
}

/** What a page needs in addition to what every page may do. */
export interface PagePolicy {
  /**
   * Schemes that a form may lead to. Chromium applies `form-action` to every redirect after a form, including those of
   * the application, which may lead anywhere. Hosts cannot be listed, because a policy cannot name `[::1]`.
   */
  readonly formTargets?: readonly string[];
  /** Whether the page has the passkey script. It works without. */
  readonly hasScript?: boolean;
}

/** Headers of pages: no resources of other origins, no frames, forms to this origin only. */
export function pageHeaders(
  issuer: Issuer,
  { formTargets = [], hasScript = false }: PagePolicy = {},
): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src ${hasScript ? "'self'" : "'none'"}`,
    `style-src 'sha256-${styleOf(issuer).hash}'`,
    ...(issuer.brand.logo ? ["img-src 'self'"] : []),
    ["form-action 'self'", ...formTargets].join(" "),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    "Content-Security-Policy": policy.join("; "),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
  };
}

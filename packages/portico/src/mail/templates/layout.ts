// Renders an email as plain text and as HTML. Its values come from users, so each value stays one line of text and never
// becomes markup or a header.

import { escapeHtml } from "../../lib/escape-html.ts";

/** The content of an email, independent of its format. */
export interface EmailContent {
  readonly subject: string;
  readonly greeting: string;
  /** What happened, in one or two sentences. */
  readonly opening: string;
  readonly facts: readonly (readonly [label: string, value: string])[];
  readonly advice: readonly Advice[];
}

/** What the reader can do. */
export interface Advice {
  readonly sentence: string;
  readonly commands?: readonly string[];
  /** A URL of this server. */
  readonly link?: string;
}

export interface Email {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const maxSubjectLength = 150;

export function renderEmail(content: EmailContent): Email {
  return {
    subject: truncated(content.subject, maxSubjectLength),
    text: plainText(content),
    html: html(content),
  };
}

/** Control characters, line breaks of every kind, and characters that change the text direction. */
const unprintablePattern = /[\p{Cc}\p{Zl}\p{Zp}\s\u202a-\u202e\u2066-\u2069]+/gu;

/** Returns the text as one line. */
export function oneLine(value: string): string {
  return value.toWellFormed().replaceAll(unprintablePattern, " ").trim();
}

/** Returns the text as one line with at most `maxLength` characters. */
export function truncated(value: string, maxLength: number): string {
  const characters = [...oneLine(value)];
  return characters.length <= maxLength
    ? characters.join("")
    : `${characters.slice(0, maxLength - 1).join("")}…`;
}

/** `2026-11-21 09:30:00 UTC` */
export function utc(timestamp: string | null): string {
  if (timestamp === null) return "never";
  return `${new Date(timestamp).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

function plainText({ greeting, opening, facts, advice }: EmailContent): string {
  const width = Math.max(...facts.map(([label]) => label.length)) + 2;
  const paragraphs = [
    oneLine(greeting),
    oneLine(opening),
    facts.map(([label, value]) => `  ${`${label}:`.padEnd(width)}${oneLine(value)}`).join("\n"),
    ...advice.flatMap(({ sentence, commands = [], link }) => [
      oneLine(sentence),
      ...(commands.length > 0 ? [commands.map((command) => `  ${oneLine(command)}`).join("\n")] : []),
      ...(link === undefined ? [] : [`  ${oneLine(link)}`]),
    ]),
  ];
  return `${paragraphs.join("\n\n")}\n`;
}

/** Sets no colours, so that the email is readable in dark mode, and loads nothing. */
function html({ subject, greeting, opening, facts, advice }: EmailContent): string {
  const rows = facts.map(
    ([label, value]) =>
      `<tr><th align="left" valign="top" style="padding:2px 16px 2px 0;font-weight:normal;opacity:.7">${escapeLine(label)}</th><td style="padding:2px 0;word-break:break-word">${escapeLine(value)}</td></tr>`,
  );
  const steps = advice.map(({ sentence, commands = [], link }) => {
    const lines = commands.map(
      (command) => `<code style="word-break:break-all">${escapeLine(command)}</code>`,
    );
    const commandBlock = lines.length > 0 ? `\n<p style="padding-left:16px">${lines.join("<br>\n")}</p>` : "";
    const linkBlock =
      link === undefined ? "" : `\n<p><a href="${escapeLine(link)}">${escapeLine(link)}</a></p>`;
    return `<p>${escapeLine(sentence)}</p>${commandBlock}${linkBlock}`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeLine(subject)}</title>
</head>
<body style="font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;max-width:600px;margin:0 auto;padding:24px">
<p>${escapeLine(greeting)}</p>
<p>${escapeLine(opening)}</p>
<table role="presentation" cellspacing="0" cellpadding="0" style="border-collapse:collapse">
${rows.join("\n")}
</table>
${steps.join("\n")}
</body>
</html>
`;
}

function escapeLine(value: string): string {
  return escapeHtml(oneLine(value));
}

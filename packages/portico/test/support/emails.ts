// Emails of a sandbox, which are stored and never sent.

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { openReader } from "./database-reader.ts";
import type { TestServer } from "./scenario.ts";

export interface StoredEmail {
  readonly to: string;
  readonly kind: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** The emails of a kind to an address, newest first. */
export async function emailsTo({ workspace }: TestServer, to: string, kind: string): Promise<StoredEmail[]> {
  const reader = openReader(workspace.databaseUrl);
  try {
    const rows = await reader.rows('select "to", kind, subject, text, html from mails order by id desc');
    return (rows as string[][])
      .map(([to, kind, subject, text, html]) => ({ to, kind, subject, text, html }) as StoredEmail)
      .filter((mail) => mail.to === to && mail.kind === kind);
  } finally {
    await reader.close();
  }
}

/** Waits until there are `count` such emails. @returns the newest */
export async function emailTo(server: TestServer, to: string, kind: string, count = 1): Promise<StoredEmail> {
  for (const until = Date.now() + 15_000; Date.now() < until; await sleep(100)) {
    const emails = await emailsTo(server, to, kind);
    if (emails.length >= count) return emails[0]!;
  }
  assert.fail(`no mail ${kind} to ${to}`);
}

/** The URL in an email. */
export function linkIn({ text, html }: StoredEmail): string {
  const link = /^ {2}(http\S+)$/m.exec(text)?.[1];
  assert.ok(link && html.includes(`<a href="${link.replaceAll("&", "&amp;")}">`), text);
  return link;
}

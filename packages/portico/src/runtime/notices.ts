// Where what happens to keys meets the mail that tells of it.

import { isIP } from "node:net";
import type { ApiKeys } from "../auth/api-keys/resource.ts";
import { users } from "../auth/users/resource.ts";
import type { App } from "../declare/app.ts";
import { KeyEmails, type KeyNotifications } from "../mail/key-emails.ts";
import type { EmailSettings } from "../mail/message.ts";
import type { Address } from "../mail/transport.ts";
import type { Settings } from "./settings/settings.ts";

/**
 * Notices to the owners of keys, written by the hooks of keys.
 * @param apiKeys the resource that is declared with these hooks
 */
export function keyEmails(app: App, settings: Settings, apiKeys: () => ApiKeys): KeyNotifications {
  const directory = {
    user: (rows, id) => rows.get(users, id),
    key: (rows, id) => rows.get(apiKeys(), id),
  } satisfies ConstructorParameters<typeof KeyEmails>[0];
  return new KeyEmails(directory, emailSettings(app, settings));
}

export function emailSettings(app: App, { mode, publicUrl, smtpUrl }: Settings): EmailSettings {
  return {
    apiName: app.name,
    keysUrl: `${publicUrl}/v1/api-keys`,
    // Live, a mail server is expected to come; a sandbox may never have one.
    status: mode === "sandbox" && smtpUrl === undefined ? "kept" : "waiting",
  };
}

/** Who mails come from: MAIL_FROM, or the API itself. */
export function senderAddress(app: App, { mailFrom, publicUrl }: Settings): Address {
  if (mailFrom) return mailFrom;
  const host = new URL(publicUrl).hostname;
  const isName = isIP(host) === 0 && !host.startsWith("[");
  return { name: app.name, address: `no-reply@${isName ? host : "localhost"}` };
}

import type { App } from "../declare/app.ts";
import type { EmailSettings } from "../mail/message.ts";
import type { Settings } from "./settings/settings.ts";

/** The settings that all emails share. */
export function emailSettings(app: App, { mode, publicUrl, smtpUrl }: Settings): EmailSettings {
  return {
    apiName: app.name,
    keysUrl: `${publicUrl}/v1/api-keys`,
    // In live mode emails wait until a mail server is configured; a sandbox may never have one.
    status: mode === "sandbox" && smtpUrl === undefined ? "kept" : "waiting",
  };
}

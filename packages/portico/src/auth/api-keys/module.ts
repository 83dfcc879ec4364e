import { dayMs } from "../../jobs/purge.ts";
import { KeyEmails, KeyExpiryEmails } from "../../mail/key-emails.ts";
import { emailSettings } from "../../runtime/email-settings.ts";
import type { Module, ModuleOptions } from "../../runtime/module.ts";
import { users } from "../users/resource.ts";
import { ExpiryNotifier, expiryIndexes } from "./expiry-notices.ts";
import { type ApiKeys, declareApiKeys } from "./resource.ts";

/** API keys: the resource, whose hooks write emails to the owners of keys, and notices before keys expire. */
export function apiKeysModule({ app, settings }: ModuleOptions): Module & { readonly apiKeys: ApiKeys } {
  const emailOptions = emailSettings(app, settings);
  const apiKeys: ApiKeys = declareApiKeys({
    environment: settings.mode === "live" ? "live" : "test",
    expiringSoonDays: settings.keyExpiringSoonDays,
    standardQuota: settings.keyQuota,
    notices: new KeyEmails(
      { user: (rows, id) => rows.get(users, id), key: (rows, id) => rows.get(apiKeys, id) },
      emailOptions,
    ),
  });
  return {
    apiKeys,
    resources: [apiKeys],
    indexes: expiryIndexes,
    start({ store, model, report }) {
      const emails = new KeyExpiryEmails(store, model, emailOptions);
      const soonMs = settings.keyExpiringSoonDays * dayMs;
      const notifier = new ExpiryNotifier(store, model, emails, soonMs, report);
      const name = "notifying the owners of keys that expire soon";
      return { tasks: [{ name, intervalMs: 60_000, run: () => notifier.poll() }] };
    },
  };
}

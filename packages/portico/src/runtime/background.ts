// What a server does beside its requests: it sends mail, tells owners of keys that will soon expire, and removes
// what is old.

import { ExpiryNotifier } from "../auth/api-keys/expiry-notices.ts";
import { oauthRecordRetention } from "../auth/tokens/oauth-records-table.ts";
import type { AccountMailQueue } from "../auth/users/account-mail-queue.ts";
import { eventRetention } from "../events/purged-events.ts";
import type { Logger } from "../http/logging/log.ts";
import { PeriodicTask } from "../jobs/periodic-task.ts";
import { dayMs, purgeWork, type RetentionPolicy } from "../jobs/purge.ts";
import type { Report } from "../lib/report.ts";
import { KeyExpiryEmails } from "../mail/key-emails.ts";
import { mailRetention } from "../mail/message.ts";
import { Outbox } from "../mail/outbox.ts";
import { MailSender } from "../mail/sender.ts";
import { openTransport } from "../mail/transport.ts";
import type { Store } from "../store/store.ts";
import { keyUsageRetention } from "../usage/key-usage-buffer.ts";
import { requestLogRetention } from "../usage/request-log.ts";
import type { Assembly } from "./compose.ts";
import { emailSettings, senderAddress } from "./notices.ts";
import type { Settings } from "./settings/settings.ts";

const second = 1_000;
const minute = 60 * second;

/** How long mails that are under way may take after SIGTERM. */
const mailShutdownTimeoutMs = 10 * second;

export interface Background {
  /** Finishes what is under way; nothing uses the store after it. */
  stop(): Promise<void>;
}

/** @param mails those about accounts that wait to be written */
export async function startBackground(
  assembly: Assembly,
  store: Store,
  mails: AccountMailQueue,
  logger: Logger,
): Promise<Background> {
  const { app, model, settings } = assembly;
  const report: Report = (message, details) => logger.warn(details, message);
  const outbox = new Outbox(store, model, report);
  const notices = new KeyExpiryEmails(store, model, emailSettings(app, settings));
  const expiryNotifier = new ExpiryNotifier(
    store,
    model,
    notices,
    settings.keyExpiringSoonDays * dayMs,
    report,
  );
  const tasks: PeriodicTask[] = [];
  const addTask = (name: string, intervalMs: number, run: () => Promise<void>): void => {
    tasks.push(new PeriodicTask({ name, intervalMs, run }, report));
  };

  const { smtpUrl } = settings;
  const sender =
    smtpUrl === undefined
      ? undefined
      : new MailSender(outbox, await openTransport(smtpUrl, senderAddress(app, settings)), logger);
  if (sender) addTask("sending mail", second, () => sender.poll());
  else if (settings.mode === "live") {
    logger.warn("SMTP_URL is not set: mails wait in the database until it is");
  }
  addTask("writing mails about accounts", second, () => mails.poll());
  addTask("telling of keys that will soon expire", minute, () => expiryNotifier.poll());
  tasks.push(new PeriodicTask(purgeWork(store, retentionPolicies(settings, store), report), report));
  for (const task of tasks) task.start();
  return {
    async stop() {
      await Promise.all(tasks.map((each) => each.stop()));
      await sender?.stop(mailShutdownTimeoutMs);
    },
  };
}

/** Everything that is kept for a time only. */
function retentionPolicies(settings: Settings, store: Store): readonly RetentionPolicy[] {
  const { usageDays, requestLogDays, mailDays, eventDays } = settings;
  // Rows of a time when the request log was kept go, too.
  return [
    keyUsageRetention(usageDays),
    requestLogRetention(store.dialect, requestLogDays),
    mailRetention(mailDays),
    oauthRecordRetention,
    eventRetention(store, eventDays),
  ];
}

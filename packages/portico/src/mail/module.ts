import { isIP } from "node:net";
import type { App } from "../declare/app.ts";
import type { Module, ModuleOptions, RunningModule, ServerContext } from "../runtime/module.ts";
import type { Settings } from "../runtime/settings/settings.ts";
import { emailIndexes, emailRetention, emails } from "./message.ts";
import type { Address } from "./transport.ts";

/** Time limit of emails that are being sent when the server is closed. */
const shutdownTimeoutMs = 10_000;

/** Emails, written to an outbox and sent from there. */
export function mailModule({ settings }: ModuleOptions): Module {
  return {
    resources: [emails],
    indexes: emailIndexes,
    start: async (context) => ({
      retention: [emailRetention(settings.mailDays)],
      ...(await startSender(context)),
    }),
  };
}

/** Starts to send emails if SMTP_URL is set. */
async function startSender({
  app,
  settings,
  model,
  store,
  logger,
  report,
}: ServerContext): Promise<RunningModule> {
  const { smtpUrl, mode } = settings;
  if (smtpUrl === undefined) {
    if (mode === "live") logger.warn("SMTP_URL is not set: emails wait in the database until it is");
    return {};
  }
  const [{ Outbox }, { EmailSender }, { openTransport }] = await Promise.all([
    import("./outbox.ts"),
    import("./sender.ts"),
    import("./transport.ts"),
  ]);
  const transport = await openTransport(smtpUrl, senderAddress(app, settings));
  const sender = new EmailSender(new Outbox(store, model, report), transport, logger);
  return {
    tasks: [{ name: "sending emails", intervalMs: 1_000, run: () => sender.poll() }],
    stop: () => sender.stop(shutdownTimeoutMs),
  };
}

/** The sender of emails: MAIL_FROM, or the API itself. */
function senderAddress(app: App, { mailFrom, publicUrl }: Settings): Address {
  if (mailFrom) return mailFrom;
  const host = new URL(publicUrl).hostname;
  const isName = isIP(host) === 0 && !host.startsWith("[");
  return { name: app.name, address: `no-reply@${isName ? host : "localhost"}` };
}

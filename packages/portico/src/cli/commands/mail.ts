// portico mail list, show, resend

import { emails } from "../../mail/message.ts";
import type { Command } from "../command.ts";
import { tenantOption, withTenant } from "../tenant-work.ts";

const defaultLimit = 100;

const mailList: Command = {
  name: "mail list",
  summary: "List the emails of a tenant, newest first.",
  options: {
    tenant: tenantOption,
    limit: { value: "N", help: `how many (default: ${defaultLimit})` },
  },
  async run(args) {
    const limit = args.number("limit") ?? defaultLimit;
    const listed = await withTenant(args, (context) => context.newest(emails, limit));
    const rows = listed.map(
      ({ id, createdAt, status, to, subject }) =>
        `${id}  ${createdAt}  ${status.padEnd(7)}  ${to}  ${subject}`,
    );
    return { json: { mails: listed }, lines: rows.length > 0 ? rows : ["No emails yet."] };
  },
};

const mailShow: Command = {
  name: "mail show",
  summary: "Show an email as text.",
  options: { tenant: tenantOption },
  positionals: ["ID"],
  async run(args) {
    const email = await withTenant(args, (context) => context.get(emails, args.positionals[0]!));
    const { to, subject, status, createdAt, sentAt, attempts, lastError, text } = email;
    const head = [
      `To: ${to}`,
      `Subject: ${subject}`,
      `Written: ${createdAt}`,
      `Status: ${status}${sentAt === null ? "" : ` since ${sentAt}`}, attempts: ${attempts}`,
      ...(lastError === null ? [] : [`Last error: ${lastError}`]),
    ];
    return { json: { mail: email }, lines: [...head, "", text.trimEnd()] };
  },
};

const mailResend: Command = {
  name: "mail resend",
  summary: "Queue an email to be sent again: one that failed, was kept or was sent.",
  options: { tenant: tenantOption },
  positionals: ["ID"],
  async run(args) {
    const email = await withTenant(args, async (context) => {
      const { engine, caller } = context;
      const [id = ""] = args.positionals;
      const nextAttemptAt = new Date().toISOString();
      const changes = { status: "waiting", attempts: 0, nextAttemptAt, sentAt: null, lastError: null };
      await engine.update(caller, context.model(emails), id, changes);
      return context.get(emails, id);
    });
    return { json: { mail: email }, lines: [`Queued the email to ${email.to}.`] };
  },
};

export const commands: readonly Command[] = [mailList, mailShow, mailResend];

// portico mail list, show

import { findMail, listMails } from "../../events/mail/listed-mails.ts";
import { findTenant } from "../../identity/tenant.ts";
import { assemble, withStore } from "../assemble.ts";
import type { Command } from "../command.ts";

const tenantOption = { value: "ID", help: "the first tenant, when left out" };
const standardLimit = 100;

export const mailList: Command = {
  name: "mail list",
  summary: "Show the mails of a tenant, newest first.",
  options: {
    tenant: tenantOption,
    limit: { value: "N", help: `how many; ${standardLimit}, when left out` },
  },
  async run(given) {
    const assembly = await assemble();
    const limit = given.number("limit") ?? standardLimit;
    const mails = await withStore(assembly, async (store) => {
      const tenant = await findTenant(store, given.text("tenant"));
      return listMails(store, assembly.model, tenant.id, limit);
    });
    const rows = mails.map(
      ({ id, createdAt, status, to, subject }) =>
        `${id}  ${createdAt}  ${status.padEnd(7)}  ${to}  ${subject}`,
    );
    return { json: { mails }, lines: rows.length > 0 ? rows : ["There is no mail yet."] };
  },
};

export const mailShow: Command = {
  name: "mail show",
  summary: "Show one mail as text.",
  options: { tenant: tenantOption },
  positionals: ["ID"],
  async run(given) {
    const assembly = await assemble();
    const mail = await withStore(assembly, async (store) => {
      const tenant = await findTenant(store, given.text("tenant"));
      return findMail(store, assembly.model, tenant.id, given.positionals[0]!);
    });
    const { to, subject, status, createdAt, sentAt, attempts, lastError, text } = mail;
    const head = [
      `To: ${to}`,
      `Subject: ${subject}`,
      `Written: ${createdAt}`,
      `Status: ${status}${sentAt === null ? "" : ` since ${sentAt}`}, attempts: ${attempts}`,
      ...(lastError === null ? [] : [`Last error: ${lastError}`]),
    ];
    return { json: { mail }, lines: [...head, "", text.trimEnd()] };
  },
};

// portico key usage

import { KeyUsage } from "../../usage/key-usage.ts";
import type { Command } from "../command.ts";
import { tenantOption, withTenant } from "../tenant-work.ts";

export const keyUsage: Command = {
  name: "key usage",
  summary: "Show how often a key was used.",
  options: {
    from: { value: "DATE", help: "ISO 8601 (default: 24 hours before --to)" },
    to: { value: "DATE", help: "ISO 8601 (default: now)" },
    step: { value: "STEP", help: "minute, hour (default) or day" },
    tenant: tenantOption,
  },
  positionals: ["ID"],
  async run(args) {
    const usage = await withTenant(args, ({ store, engine, caller }) => {
      const request = { from: args.text("from"), to: args.text("to"), step: args.text("step") };
      return new KeyUsage(engine.model, store).read(caller, args.positionals[0]!, request);
    });
    const rows = usage.map(
      ({ from, count, statusClass, route }) =>
        `${from.slice(0, 16)}Z  ${String(count).padStart(10)}  ${statusClass}  ${route}`,
    );
    return { json: { usage }, lines: rows.length > 0 ? rows : ["The key was not used in this period."] };
  },
};

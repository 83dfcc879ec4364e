// portico key usage

import { Engine } from "../../engine/engine.ts";
import { systemCaller } from "../../identity/system-caller.ts";
import { findTenant } from "../../identity/tenant.ts";
import { assemble, withStore } from "../assemble.ts";
import type { Command } from "../command.ts";

export const keyUsage: Command = {
  name: "key usage",
  summary: "Show how often a key was used.",
  options: {
    from: { value: "DATE", help: "ISO 8601; 24 hours before --to, when left out" },
    to: { value: "DATE", help: "ISO 8601; now, when left out" },
    step: { value: "STEP", help: "minute, hour (the default) or day" },
    tenant: { value: "ID", help: "the first tenant, when left out" },
  },
  positionals: ["ID"],
  async run(given) {
    const assembly = await assemble();
    const usage = await withStore(assembly, async (store) => {
      const tenant = await findTenant(store, given.text("tenant"));
      const caller = systemCaller(assembly.model, tenant.id);
      const asked = { from: given.text("from"), to: given.text("to"), step: given.text("step") };
      return new Engine(assembly.model, store).keyUsage.read(caller, given.positionals[0]!, asked);
    });
    const rows = usage.map(
      ({ from, count, statusClass, route }) =>
        `${from.slice(0, 16)}Z  ${String(count).padStart(10)}  ${statusClass}  ${route}`,
    );
    return { json: { usage }, lines: rows.length > 0 ? rows : ["The key was not used in this time."] };
  },
};

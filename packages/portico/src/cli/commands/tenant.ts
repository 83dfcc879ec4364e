// portico tenant create

import { createTenant } from "../../identity/tenant.ts";
import { assemble, withStore } from "../assemble.ts";
import type { Command } from "../command.ts";

const tenantCreate: Command = {
  name: "tenant create",
  summary: "Make a tenant: an account that owns users, keys and rows.",
  options: { name: { value: "NAME", help: "how the tenant is called", isRequired: true } },
  async run(given) {
    const tenant = await withStore(await assemble(), (store) => createTenant(store, given.required("name")));
    return { json: { tenant }, lines: [`Tenant ${tenant.name}: ${tenant.id}`] };
  },
};

export const commands: readonly Command[] = [tenantCreate];

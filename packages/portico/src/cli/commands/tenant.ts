// portico tenant create, list

import { createTenant, listTenants } from "../../auth/tenants/tenant.ts";
import { assemble, withStore } from "../../runtime/compose.ts";
import type { Command } from "../command.ts";

const tenantCreate: Command = {
  name: "tenant create",
  summary: "Create a tenant: an account that owns users, keys and rows.",
  options: { name: { value: "NAME", help: "name of the tenant", isRequired: true } },
  async run(args) {
    const tenant = await withStore(await assemble(args.project), (store) =>
      createTenant(store, args.required("name")),
    );
    return { json: { tenant }, lines: [`Created the tenant ${tenant.name}: ${tenant.id}`] };
  },
};

const tenantList: Command = {
  name: "tenant list",
  summary: "List the tenants, oldest first.",
  options: {},
  async run(args) {
    const tenants = await withStore(await assemble(args.project), listTenants);
    const lines = tenants.map(({ id, createdAt, name }) => `${id}  ${createdAt}  ${name}`);
    return { json: { tenants }, lines: lines.length > 0 ? lines : ["No tenants yet."] };
  },
};

export const commands: readonly Command[] = [tenantCreate, tenantList];

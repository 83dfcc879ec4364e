// portico user create

import { Engine } from "../../engine/engine.ts";
import { findTenant } from "../../identity/tenant.ts";
import { assemble, withStore } from "../assemble.ts";
import type { Command } from "../command.ts";
import { createUser } from "../create-user.ts";

export const userCreate: Command = {
  name: "user create",
  summary: "Make a user of a tenant.",
  options: {
    email: { value: "ADDRESS", help: "unique in the tenant", isRequired: true },
    name: { value: "NAME", help: "how the person is called", isRequired: true },
    password: { value: "TEXT", help: "8 characters or more", isRequired: true },
    tenant: { value: "ID", help: "the first tenant, when left out" },
  },
  async run(given) {
    const assembly = await assemble();
    const user = await withStore(assembly, async (store) => {
      const tenant = await findTenant(store, given.text("tenant"));
      return createUser(new Engine(assembly.model, store), store, tenant.id, {
        email: given.required("email"),
        name: given.required("name"),
        password: given.required("password"),
      });
    });
    return { json: { user }, lines: [`User ${user.name} <${user.email}>: ${user.id}`] };
  },
};

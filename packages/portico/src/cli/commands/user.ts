// portico user create

import type { Command } from "../command.ts";
import { createUser } from "../create-user.ts";
import { forTenant, tenantOption } from "../tenant-work.ts";

const userCreate: Command = {
  name: "user create",
  summary: "Make a user of a tenant.",
  options: {
    email: { value: "ADDRESS", help: "unique in the tenant", isRequired: true },
    name: { value: "NAME", help: "how the person is called", isRequired: true },
    password: { value: "TEXT", help: "8 characters or more", isRequired: true },
    tenant: tenantOption,
  },
  async run(given) {
    const user = await forTenant(given, ({ store, engine, caller }) =>
      createUser(engine, store, caller.tenantId, {
        email: given.required("email"),
        name: given.required("name"),
        password: given.required("password"),
      }),
    );
    return { json: { user }, lines: [`User ${user.name} <${user.email}>: ${user.id}`] };
  },
};

export const commands: readonly Command[] = [userCreate];

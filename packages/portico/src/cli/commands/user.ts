// portico user create, list

import { users } from "../../auth/users/resource.ts";
import type { Command } from "../command.ts";
import { createUser } from "../create-user.ts";
import { tenantOption, withTenant } from "../tenant-work.ts";

const userCreate: Command = {
  name: "user create",
  summary: "Create a user of a tenant.",
  options: {
    email: { value: "ADDRESS", help: "email address, unique in the tenant", isRequired: true },
    name: { value: "NAME", help: "name of the person", isRequired: true },
    password: { value: "TEXT", help: "at least 8 characters", isRequired: true },
    tenant: tenantOption,
  },
  async run(args) {
    const user = await withTenant(args, ({ store, engine, caller }) =>
      createUser(engine, store, caller.tenantId, {
        email: args.required("email"),
        name: args.required("name"),
        password: args.required("password"),
      }),
    );
    return { json: { user }, lines: [`Created the user ${user.name} <${user.email}>: ${user.id}`] };
  },
};

const standardLimit = 100;

const userList: Command = {
  name: "user list",
  summary: "List the users of a tenant, newest first.",
  options: {
    tenant: tenantOption,
    limit: { value: "N", help: `how many (default: ${standardLimit})` },
  },
  async run(args) {
    const limit = args.number("limit") ?? standardLimit;
    const listed = await withTenant(args, (context) => context.newest(users, limit));
    const lines = listed.map(({ id, createdAt, email, name }) => `${id}  ${createdAt}  ${email}  ${name}`);
    return { json: { users: listed }, lines: lines.length > 0 ? lines : ["No users yet."] };
  },
};

export const commands: readonly Command[] = [userCreate, userList];

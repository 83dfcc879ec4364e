// portico user create, list

import { users } from "../../auth/users/resource.ts";
import type { Command } from "../command.ts";
import { createUser } from "../create-user.ts";
import { tenantOption, withTenant } from "../tenant-work.ts";

const userCreate: Command = {
  name: "user create",
  summary: "Make a user of a tenant.",
  options: {
    email: { value: "ADDRESS", help: "unique in the tenant", isRequired: true },
    name: { value: "NAME", help: "how the person is called", isRequired: true },
    password: { value: "TEXT", help: "8 characters or more", isRequired: true },
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
    return { json: { user }, lines: [`User ${user.name} <${user.email}>: ${user.id}`] };
  },
};

const standardLimit = 100;

const userList: Command = {
  name: "user list",
  summary: "Show the users of a tenant, newest first.",
  options: {
    tenant: tenantOption,
    limit: { value: "N", help: `how many; ${standardLimit}, when left out` },
  },
  async run(args) {
    const limit = args.number("limit") ?? standardLimit;
    const listed = await withTenant(args, (work) => work.newest(users, limit));
    const lines = listed.map(({ id, createdAt, email, name }) => `${id}  ${createdAt}  ${email}  ${name}`);
    return { json: { users: listed }, lines: lines.length > 0 ? lines : ["There is no user yet."] };
  },
};

export const commands: readonly Command[] = [userCreate, userList];

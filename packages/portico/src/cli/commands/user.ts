// portico user create, list, role, delete

import { users } from "../../auth/users/resource.ts";
import { OperatorError } from "../../errors.ts";
import { isPlainObject } from "../../query/plain-object.ts";
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
    role: { value: "ROLE", help: "its role (default: the last declared one; the first user has the first)" },
    fields: { value: "JSON", help: `fields that the app adds to users: '{"phone": "+44 20 7946 0958"}'` },
    tenant: tenantOption,
  },
  async run(args) {
    const fields = objectOf(args.text("fields"));
    const user = await withTenant(args, ({ store, engine, caller }) =>
      createUser(engine, store, caller.tenantId, {
        email: args.required("email"),
        name: args.required("name"),
        password: args.required("password"),
        role: args.text("role"),
        fields,
      }),
    );
    return { json: { user }, lines: [`Created the user ${user.name} <${user.email}>: ${user.id}`] };
  },
};

/** @throws OperatorError for a text that is no JSON object */
function objectOf(text = "{}"): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isPlainObject(value)) return value as Readonly<Record<string, unknown>>;
  } catch {
    // The same message as for other JSON.
  }
  throw new OperatorError(`--fields is not a JSON object; write it as '{"phone": "+44 20 7946 0958"}'`);
}

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
    const lines = listed.map(
      ({ id, createdAt, email, name, role, active }) =>
        `${id}  ${createdAt}  ${email}  ${role}${active ? "" : ", inactive"}  ${name}`,
    );
    return { json: { users: listed }, lines: lines.length > 0 ? lines : ["No users yet."] };
  },
};

const userRole: Command = {
  name: "user role",
  summary:
    "Change the role of a user. Its credentials have the scopes of the new role at their next request.",
  options: { tenant: tenantOption },
  positionals: ["ID", "ROLE"],
  run: (args) =>
    withTenant(args, async (context) => {
      const [id = "", role = ""] = args.positionals;
      const known = context.engine.model.roles.map(({ name }) => name);
      if (!known.includes(role))
        throw new OperatorError(`there is no role ${role}; use one of ${known.join(", ")}`);
      const written = await context.engine.update(context.caller, context.model(users), id, { role });
      const user = JSON.parse(written.text);
      return { json: { user }, lines: [`${user.name} <${user.email}> now has the role ${user.role}.`] };
    }),
};

const userDelete: Command = {
  name: "user delete",
  summary: "Delete a user to whom no rows refer, with their keys.",
  options: { tenant: tenantOption },
  positionals: ["ID"],
  run: (args) =>
    withTenant(args, async (context) => {
      const [id = ""] = args.positionals;
      const user = await context.get(users, id);
      await context.engine.delete(context.caller, context.model(users), id);
      return { json: { user }, lines: [`Deleted the user ${user.name} <${user.email}>.`] };
    }),
};

export const commands: readonly Command[] = [userCreate, userList, userRole, userDelete];

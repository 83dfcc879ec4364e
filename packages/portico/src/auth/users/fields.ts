// The fields of users. The words of `role` are those of the app.

import { boolean, choice, text } from "../../declare/field.ts";
import { standardRoleNames } from "../../declare/roles.ts";

/** @param roleNames in the order of their declaration: the last is that of users created without a role */
export const userFields = (roleNames: readonly string[]) => ({
  name: text({ min: 1, max: 200 }),
  email: text({ max: 254, format: "email", unique: true }),
  role: choice(roleNames, {
    default: roleNames.at(-1)!,
    keepOnReplace: true,
    description: "What the user may do at most, whatever the scopes of a credential.",
  }),
  active: boolean({
    default: true,
    keepOnReplace: true,
    description: "False for a user who cannot sign in, and whose keys and tokens are refused.",
  }),
});

/** The table of users, for queries. Its columns do not depend on the roles. */
export const usersTable = { name: "user", fields: userFields(standardRoleNames) } as const;

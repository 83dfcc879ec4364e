import { standardRoleNames } from "../../declare/roles.ts";
import type { Module, ModuleOptions } from "../../runtime/module.ts";
import { emailChangeIndexes } from "./email-changes.ts";
import { passkeysTable } from "./passkeys.ts";
import { passwordsTable } from "./password.ts";
import { declareUsers, emailChanges } from "./resource.ts";
import { roleIndexes } from "./tenant-owners.ts";
import { verifiedEmailsTable } from "./verified-email.ts";

/** Users, how they sign in, and the changes of their addresses. */
export function usersModule({ app }: Pick<ModuleOptions, "app">): Module {
  const users = declareUsers(
    Object.keys(app.roles ?? {}).length > 0 ? Object.keys(app.roles!) : standardRoleNames,
  );
  return {
    resources: [users, emailChanges],
    tables: [passwordsTable, verifiedEmailsTable, passkeysTable],
    indexes: [...emailChangeIndexes, ...roleIndexes],
  };
}

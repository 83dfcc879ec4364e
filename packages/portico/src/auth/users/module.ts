import { standardRoleNames } from "../../declare/roles.ts";
import type { Module, ModuleOptions } from "../../runtime/module.ts";
import { emailChangeIndexes } from "./email-changes.ts";
import { type userExtensionOf, withExtension } from "./extension.ts";
import { passkeysTable } from "./passkeys.ts";
import { passwordsTable } from "./password.ts";
import { declareUsers, emailChanges } from "./resource.ts";
import { roleIndexes } from "./tenant-owners.ts";
import { verifiedEmailsTable } from "./verified-email.ts";

/**
 * Users, how they sign in, and the changes of their addresses.
 * @param extension the fields that the app adds to users
 */
export function usersModule(
  { app }: Pick<ModuleOptions, "app">,
  extension: ReturnType<typeof userExtensionOf>,
): Module {
  const users = declareUsers(
    Object.keys(app.roles ?? {}).length > 0 ? Object.keys(app.roles!) : standardRoleNames,
  );
  return {
    resources: [withExtension(users, extension), emailChanges],
    tables: [passwordsTable, verifiedEmailsTable, passkeysTable],
    indexes: [...emailChangeIndexes, ...roleIndexes],
  };
}

import type { Module } from "../../runtime/module.ts";
import { emailChangeIndexes } from "./email-changes.ts";
import { passkeysTable } from "./passkeys.ts";
import { passwordsTable } from "./password.ts";
import { emailChanges, users } from "./resource.ts";
import { verifiedEmailsTable } from "./verified-email.ts";

/** Users, how they sign in, and the changes of their addresses. */
export function usersModule(): Module {
  return {
    resources: [users, emailChanges],
    tables: [passwordsTable, verifiedEmailsTable, passkeysTable],
    indexes: emailChangeIndexes,
  };
}

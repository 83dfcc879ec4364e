import { standardRoleNames } from "../../declare/roles.ts";
import type { Module, ModuleOptions } from "../../runtime/module.ts";
import { invitationEmails } from "./fields.ts";
import { invitationEmailIndexes, invitationEmailRetention } from "./invitation-emails.ts";
import { declareInvitations, type Invitations } from "./resource.ts";

/** Invitations of people who become users. The task that sends their emails is that of the authorization server. */
export function invitationsModule({ app }: Pick<ModuleOptions, "app">): Module & {
  readonly invitations: Invitations;
} {
  const roleNames = Object.keys(app.roles ?? {});
  const invitations = declareInvitations(
    roleNames.length > 0 ? roleNames : standardRoleNames,
    app.signUp !== "closed",
  );
  return {
    invitations,
    resources: [invitations, invitationEmails],
    indexes: invitationEmailIndexes,
    start: () => ({ retention: [invitationEmailRetention] }),
  };
}

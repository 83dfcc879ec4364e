// The fields of invitations, and the emails about them.

import { usersWriteScope } from "../../declare/administrative-scopes.ts";
import { belongsTo, choice, computedStatus, id, text, timestamp } from "../../declare/field.ts";
import { type Resource, resource } from "../../declare/resource.ts";
import { standardRoleNames } from "../../declare/roles.ts";
import { users } from "../users/resource.ts";

/** @param roleNames in the order of their declaration: the last is that of invitations without a role */
export const invitationFields = (roleNames: readonly string[]) => ({
  email: text({ max: 254, format: "email", immutable: true, description: "Where the link is sent." }),
  role: choice(roleNames, {
    default: roleNames.at(-1)!,
    immutable: true,
    description: "The role of the new user.",
  }),
  status: computedStatus("pending", [
    { status: "accepted", from: "acceptedAt" },
    { status: "withdrawn", from: "withdrawnAt" },
    { status: "expired", from: "expiresAt" },
  ]),
  /** Whose role decides whether the invitation still counts. Those without it are of keys without an owner, or commands. */
  inviter: belongsTo((): Resource => users, { optional: true, readOnly: true, onDelete: "cascade" }),
  expiresAt: timestamp({ optional: true, readOnly: true }),
  acceptedAt: timestamp({ optional: true, readOnly: true }),
  withdrawnAt: timestamp({ optional: true, readOnly: true }),
});

/** The table of invitations, for queries. Its columns do not depend on the roles. */
export const invitationsTable = { name: "invitation", fields: invitationFields(standardRoleNames) } as const;

/**
 * The emails of invitations: those that are due, and those that were sent, which are counted. They refer to no invitation
 * in the database, because they are counted also when it is gone.
 */
export const invitationEmails = resource("invitationEmail", {
  exposed: false,
  events: false,
  scopes: { read: usersWriteScope, write: usersWriteScope },
  fields: {
    invitationId: id(),
    email: text({ max: 254 }),
    /** The network address of the request; null for a command. */
    address: text({ optional: true, max: 64 }),
    sentAt: timestamp({ internal: true, optional: true }),
  },
  filter: ["email"],
});

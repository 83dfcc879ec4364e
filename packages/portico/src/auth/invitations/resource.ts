// Invitations as a resource: people who may become users of a tenant, with a role, by the link in an email. The emails
// follow soon after (invitation-emails.ts), and the page of the link accepts (acceptance.ts).

import { usersWriteScope } from "../../declare/administrative-scopes.ts";
import type { HookContext } from "../../declare/hooks.ts";
import type { RecordOf } from "../../declare/record.ts";
import { type Resource, resource } from "../../declare/resource.ts";
import { Problem } from "../../errors.ts";
import { ownContext } from "../own-hook-context.ts";
import { users } from "../users/resource.ts";
import { assertCanGiveRole, assertOutranks, isDefaultRole, scopeBeyond } from "../users/role-rules.ts";
import { invitationEmails, invitationFields } from "./fields.ts";
import { requireEmailQuota, requireUninvited } from "./limits.ts";

/** How long an invitation can be accepted, from its last email. */
export const invitationDays = 7;
const invitationMs = invitationDays * 86_400_000;

/** The type of the built-in resource for invitations. */
export type Invitations = Resource<"invitation", ReturnType<typeof invitationFields>, undefined>;

/**
 * Declares the invitations of an app.
 *
 * @param roleNames in the order of their declaration
 * @param exposed false if people become users by requests only
 */
export function declareInvitations(roleNames: readonly string[], exposed: boolean): Invitations {
  const invitations: Invitations = resource("invitation", {
    fields: invitationFields(roleNames),
    version: "v1",
    exposed,
    operations: ["list", "get", "create", "delete"],
    scopes: { read: usersWriteScope, write: usersWriteScope },
    filter: ["email", "status"],
    markOnDelete: "withdrawnAt",
    hooks: {
      before: {
        async create({ email: entered, role }, context) {
          const email = entered.toLowerCase();
          requireGivableRole(role!, context);
          await requireUninvited(ownContext(context), email);
          await requireEmailQuota(ownContext(context), email);
          return { email, ...termsOf(context) };
        },
        async delete(context) {
          const { caller, current, rows } = context;
          const { model } = ownContext(context);
          if (scopeBeyond(model, current.role, caller) === undefined) return;
          // Those who manage the inviter could end the invitation by that, and withdraw it when they delete the inviter.
          const inviter = current.inviterId === null ? undefined : await rows.get(users, current.inviterId);
          if (inviter?.id !== caller.userId) assertOutranks(model, inviter?.role ?? current.role, caller);
        },
      },
      after: { create: queueEmail },
    },
    actions: {
      mails: {
        verb: "send",
        input: {},
        async run({ current, ...context }) {
          if (current.status === "accepted" || current.status === "withdrawn")
            throw new Problem("conflict", `The invitation is ${current.status}. Create another one.`);
          requireGivableRole(current.role, context);
          await requireEmailQuota(ownContext(context), current.email);
          await queueEmail(current, context);
          return context.rows.update(invitations, current.id, termsOf(context));
        },
      },
    },
  });
  return invitations;
}

type InvitationRow = Pick<RecordOf<Invitations>, "id" | "email">;

async function queueEmail({ id: invitationId, email }: InvitationRow, context: HookContext): Promise<void> {
  const { caller, rows } = context;
  await rows.create(invitationEmails, { invitationId, email, address: caller.address ?? null });
}

/** Who invites, which is who has sent the last email, and until when the invitation can be accepted. */
function termsOf({ caller, now }: HookContext) {
  return { inviterId: caller.userId, expiresAt: new Date(Date.parse(now) + invitationMs).toISOString() };
}

/** @throws Problem `forbidden` */
function requireGivableRole(role: string, context: HookContext): void {
  const { caller } = context;
  const { model } = ownContext(context);
  // The invitation counts while the role of its inviter allows it, and here nobody knows that role.
  if (caller.isDelegated && caller.userId === null)
    throw new Problem("forbidden", "A token of another issuer cannot invite anybody.");
  // The default role is not chosen by the caller.
  if (isDefaultRole(model, role)) assertOutranks(model, role, caller);
  else assertCanGiveRole(model, role, caller);
}

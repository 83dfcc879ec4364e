// Users as a resource: the people of a tenant, who sign in and own rows and keys.

import { usersWriteScope } from "../../declare/administrative-scopes.ts";
import type { Caller } from "../../declare/caller.ts";
import { belongsTo, boolean, text, timestamp } from "../../declare/field.ts";
import type { Fields, RecordOf } from "../../declare/record.ts";
import { type Resource, resource } from "../../declare/resource.ts";
import { standardRoleNames } from "../../declare/roles.ts";
import { Problem } from "../../errors.ts";
import { type OwnHookContext, ownContext } from "../own-hook-context.ts";
import { deleteAccountRecords } from "../tokens/oauth-record-statements.ts";
import { type ExtendedUsers, extendUsers, type UserExtension } from "./extension.ts";
import { userFields } from "./fields.ts";
import { assertCanGiveRole, assertOutranks, isDefaultRole, scopeBeyond, scopesOfRole } from "./role-rules.ts";
import { isFirstUser, requireOtherOwner } from "./tenant-owners.ts";

/** The type of the built-in resource for users. */
export type Users = Resource<"user", ReturnType<typeof userFields>, undefined>;
type UserRow = RecordOf<Users>;

/** Declares the users of an app. @param roleNames in the order of their declaration */
export function declareUsers(roleNames: readonly string[]): Users {
  return resource("user", {
    fields: userFields(roleNames),
    filter: ["email"],
    sort: ["createdAt", "name", "email"],
    search: ["name", "email"],
    paging: "page",
    scopes: { read: "users:read", write: usersWriteScope },
    // Rows refer to users by their ids. Tools that manage people would give an assistant too much.
    mcp: ["list", "get"],
    whenReferenced: 'Deactivate the user with { "active": false }, or delete the rows first.',
    hooks: {
      before: {
        async create({ email, role, active }, context) {
          return {
            email: email.toLowerCase(),
            role: await roleOfNewUser(role!, active!, ownContext(context)),
          };
        },
        async update(changes, context) {
          const { caller, current, rows } = context;
          const own = ownContext(context);
          requireKnownUser(caller, current.id);
          const isOwn = caller.userId === current.id;
          if (!isOwn) assertOutranks(own.model, current.role, caller);
          await changeRights(changes, current, own);
          const email = changes.email?.toLowerCase();
          if (email === undefined) return undefined;
          if (email === current.email) return { email };
          // A key with few scopes must not take over the account that it acts for.
          const isLimited =
            caller.isDelegated === true || scopeBeyond(own.model, current.role, caller) !== undefined;
          const isPending = isOwn && isLimited;
          const { id: userId, email: previousEmail } = current;
          const address = caller.address ?? null;
          await rows.create(emailChanges, { userId, email, previousEmail, isPending, address });
          return { email: isPending ? previousEmail : email };
        },
        async delete(context) {
          const { caller, current } = context;
          const own = ownContext(context);
          requireKnownUser(caller, current.id);
          if (caller.userId !== current.id) assertOutranks(own.model, current.role, caller);
          if (isActiveOwner(current, own)) await requireOtherOwner(own, current.id);
          await own.query(deleteAccountRecords, { accountId: current.id });
        },
      },
    },
  });
}

const builtInUsers = declareUsers(standardRoleNames);

/**
 * The built-in resource for users. Refer to it with `belongsTo(() => users)`, and add fields with
 * [`users.extend`](extension.ts).
 */
export const users = Object.freeze({
  ...builtInUsers,
  extend: <F extends Fields>(extension: UserExtension<F>): ExtendedUsers<F> =>
    extendUsers(builtInUsers, extension),
});

/** The first user of a tenant gets the first role from those who may give it. */
async function roleOfNewUser(role: string, active: boolean, context: OwnHookContext): Promise<string> {
  const { caller, model } = context;
  const [first] = model.roles;
  const isFirst = active && (await isFirstUser(context));
  if (isFirst && first!.scopes.isSubsetOf(caller.scopes)) return first!.name;
  // The default role is not chosen by the caller.
  if (isDefaultRole(model, role)) assertOutranks(model, role, caller);
  else assertCanGiveRole(model, role, caller);
  return role;
}

/** Checks a change of the role or of `active`. A user who is deactivated is signed out everywhere. */
async function changeRights(
  { role, active }: Partial<Pick<UserRow, "role" | "active">>,
  current: UserRow,
  context: OwnHookContext,
): Promise<void> {
  const { caller, model } = context;
  const isNewRole = role !== undefined && role !== current.role;
  const isNewActive = active !== undefined && active !== current.active;
  if (!isNewRole && !isNewActive) return;
  if (isNewRole) assertCanGiveRole(model, role, caller);
  const next = { role: role ?? current.role, active: active ?? current.active };
  if (isActiveOwner(current, context) && !isActiveOwner(next, context))
    await requireOtherOwner(context, current.id);
  if (isNewActive && !active) await context.query(deleteAccountRecords, { accountId: current.id });
}

function isActiveOwner(
  { role, active }: Pick<UserRow, "role" | "active">,
  { model }: OwnHookContext,
): boolean {
  return active && scopesOfRole(model, role).has("*");
}

/**
 * Unconfirmed changes of email addresses. While a user's current address is unconfirmed, no password link is sent to it.
 * A change that the user makes through an application, or with a key that lacks administrative scopes of the user's role, is
 * pending: the old address stays until the new one is confirmed.
 * Emails about changes follow soon after (email-changes.ts).
 */
export const emailChanges = resource("emailChange", {
  exposed: false,
  events: false,
  scopes: { read: "users:read", write: usersWriteScope },
  fields: {
    user: belongsTo((): Resource => users, { onDelete: "cascade" }),
    email: text({ max: 254 }),
    /** The address that is notified of the change. */
    previousEmail: text({ max: 254 }),
    isPending: boolean({ default: false }),
    /** The network address of the request; null for a command. */
    address: text({ optional: true, max: 64 }),
    mailedAt: timestamp({ internal: true, optional: true }),
  },
});

/**
 * A token of another issuer acts for somebody whose role is unknown, so it changes no users.
 *
 * @throws Problem `forbidden`
 */
function requireKnownUser(caller: Caller, userId: string): void {
  if (!caller.isDelegated || caller.userId !== null) return;
  throw new Problem("forbidden", `A token of another issuer cannot change or delete the user ${userId}.`);
}

// Users as a resource: the people of a tenant, who sign in and own rows and keys.

import type { Caller } from "../../declare/caller.ts";
import { belongsTo, boolean, text, timestamp } from "../../declare/field.ts";
import { type Resource, resource } from "../../declare/resource.ts";
import { Problem } from "../../errors.ts";

/** The scope that changes users. A token that a user granted cannot grant it to a key. */
export const usersWriteScope = "users:write";

/** The built-in resource for users. Refer to it with `belongsTo(() => users)`. */
export const users = resource("user", {
  fields: {
    name: text({ min: 1, max: 200 }),
    email: text({ max: 254, format: "email", unique: true }),
  },
  filter: ["email"],
  sort: ["createdAt", "name", "email"],
  search: ["name", "email"],
  paging: "page",
  scopes: { read: "users:read", write: usersWriteScope },
  hooks: {
    before: {
      create: ({ email }) => ({ email: email.toLowerCase() }),
      async update({ email: requestedEmail }, { caller, current, rows }) {
        requireSameUser(caller, current.id);
        const email = requestedEmail?.toLowerCase();
        if (email === undefined) return undefined;
        if (email === current.email) return { email };
        const isPending = caller.isDelegated === true;
        const { id: userId, email: previousEmail } = current;
        const address = caller.address ?? null;
        await rows.create(emailChanges, { userId, email, previousEmail, isPending, address });
        return { email: isPending ? previousEmail : email };
      },
      delete({ caller, current }) {
        requireSameUser(caller, current.id);
      },
    },
  },
});

/**
 * Unconfirmed changes of email addresses. While a user's current address is unconfirmed, no password link is sent to it.
 * A change that the user makes through an application is pending: the old address stays until the new one is confirmed.
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
 * A user who grants `users:write` to an application grants it for their own account only. Otherwise any member could take
 * over any other account by changing its address to their own.
 *
 * @throws Problem `forbidden`
 */
function requireSameUser(caller: Caller, userId: string): void {
  if (!caller.isDelegated || caller.userId === userId) return;
  throw new Problem(
    "forbidden",
    "An access token granted by a user can change or delete that user only. Use an API key.",
  );
}

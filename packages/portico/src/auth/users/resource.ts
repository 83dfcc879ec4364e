// Users: the people of a tenant. They own rows and keys, and later sign in.

import type { Caller } from "../../declare/caller.ts";
import { belongsTo, boolean, text, timestamp } from "../../declare/field.ts";
import { type Resource, resource } from "../../declare/resource.ts";
import { Problem } from "../../errors.ts";

/** The scope that changes people. What a person grants to an application cannot hand it on. */
export const usersWriteScope = "users:write";

/** The server's own resource for people. Refer to it with `belongsTo(() => users)`. */
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
 * Changes of addresses that nobody has confirmed. While there is one for the address that a user has, no link to a new
 * password goes there. One that a person asked for through an application is pending: the user has the old address
 * until the new one is confirmed. Mails about them are written soon after (email-changes.ts).
 */
export const emailChanges = resource("emailChange", {
  exposed: false,
  events: false,
  scopes: { read: "users:read", write: usersWriteScope },
  fields: {
    user: belongsTo((): Resource => users, { onDelete: "cascade" }),
    email: text({ max: 254 }),
    /** The address that is told of it. */
    previousEmail: text({ max: 254 }),
    isPending: boolean({ default: false }),
    /** The network address that the change came from; none for a command. */
    address: text({ optional: true, max: 64 }),
    mailedAt: timestamp({ internal: true, optional: true }),
  },
});

/**
 * A person who grants an application `users:write` grants it their own account only. Otherwise any member could take
 * over any other account by giving it an address of their own.
 *
 * @throws Problem `forbidden`
 */
function requireSameUser(caller: Caller, userId: string): void {
  if (!caller.isDelegated || caller.userId === userId) return;
  throw new Problem(
    "forbidden",
    "An access token that a person granted can change or delete that person only. Use an API key.",
  );
}

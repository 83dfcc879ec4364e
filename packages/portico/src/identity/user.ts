// Users: the people of a tenant. They own rows and keys, and later sign in.

import type { Caller } from "../declare/caller.ts";
import { text } from "../declare/field.ts";
import { resource } from "../declare/resource.ts";
import { Problem } from "../errors.ts";

/** The scope that changes people. What a person grants to an application cannot hand it on. */
export const peopleScope = "users:write";

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
  scopes: { read: "users:read", write: peopleScope },
  hooks: {
    before: {
      create: ({ email }) => ({ email: email.toLowerCase() }),
      change({ email }, { caller, current }) {
        requireSamePerson(caller, current.id);
        return email === undefined ? undefined : { email: email.toLowerCase() };
      },
      remove({ caller, current }) {
        requireSamePerson(caller, current.id);
      },
    },
  },
});

/**
 * A person who grants an application `users:write` grants it their own account only. Otherwise any member could take
 * over any other account by giving it an address of their own.
 *
 * @throws Problem `forbidden`
 */
function requireSamePerson(caller: Caller, userId: string): void {
  if (!caller.isDelegated || caller.userId === userId) return;
  throw new Problem(
    "forbidden",
    "An access token that a person granted can change or delete that person only. Use an API key.",
  );
}

// Users: the people of a tenant. They own rows and keys, and later sign in.

import { text } from "../declare/field.ts";
import { resource } from "../declare/resource.ts";

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
  hooks: {
    before: {
      create: ({ email }) => ({ email: email.toLowerCase() }),
      change: ({ email }) => (email === undefined ? undefined : { email: email.toLowerCase() }),
    },
  },
});

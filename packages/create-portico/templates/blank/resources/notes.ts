import { choice, resource, text } from "portico";

/** Served at /notes and /v1/notes, in GraphQL as `note` and `notes`, with the scopes notes:read and notes:write. */
export const notes = resource("note", {
  // A field is required unless it is optional or has a default. id, createdAt and updatedAt are added automatically.
  fields: {
    title: text({ min: 1, max: 200 }),
    body: text({ max: 10_000, default: "" }),
    status: choice(["open", "done"], { default: "open" }),
  },
  // What callers can ask for: ?status=open, ?sort=title, ?q=door.
  filter: ["status"],
  sort: ["createdAt", "title"],
  search: ["title", "body"],
});

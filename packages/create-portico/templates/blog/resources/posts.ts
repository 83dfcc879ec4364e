import { belongsTo, choice, resource, text, users } from "portico";

/**
 * Everybody reads published posts, without a credential. Drafts need a key with the scope posts:read. To tell another
 * program of each change: npx portico webhook create --url URL --event-types 'post.*'
 */
export const posts = resource("post", {
  fields: {
    title: text({ min: 1, max: 200 }),
    body: text({ max: 100_000, default: "" }),
    status: choice(["draft", "published"], { default: "draft" }),
    author: belongsTo(() => users, { default: "caller" }),
  },
  filter: ["status", "authorId"],
  sort: ["createdAt", "title"],
  search: ["title", "body"],
  policy: { read: ({ caller }) => caller.kind !== "anonymous" || { status: "published" } },
  public: ["list", "get"],
});

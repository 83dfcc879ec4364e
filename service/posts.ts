import { belongsTo, choice, resource, text, users } from "portico";

export const posts = resource("post", {
  fields: {
    title: text({ min: 1, max: 200 }),
    body: text({ max: 100_000, default: "" }),
    status: choice(["draft", "published", "archived"], { default: "draft" }),
    author: belongsTo(() => users, { default: "caller" }),
  },
  filter: ["status", "authorId"],
  sort: ["createdAt", "updatedAt", "title"],
  search: ["title", "body"],
});

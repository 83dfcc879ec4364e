import { belongsTo, resource, text, users } from "portico";
import { posts } from "./posts.ts";

/** Served below their post, at /posts/{id}/comments. Who sees the post sees them. */
export const comments = resource("comment", {
  parent: posts,
  fields: {
    body: text({ min: 1, max: 10_000 }),
    author: belongsTo(() => users, { default: "caller" }),
  },
  filter: ["authorId"],
  public: ["list", "get"],
});

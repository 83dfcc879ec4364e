import { app, type Rows } from "portico";
import { comments } from "./resources/comments.ts";
import { posts } from "./resources/posts.ts";

export default app({
  name: "{{title}}",
  // /openapi.json and /docs name it. A public API has an SPDX identifier, such as MIT, or a url.
  license: { name: "All rights reserved", identifier: "LicenseRef-AllRightsReserved" },
  resources: [posts, comments],
  seed,
});

/** The sample rows of a new sandbox. */
async function seed(rows: Rows): Promise<void> {
  const post = await rows.create(posts, {
    title: "On the Analytical Engine",
    body: "It weaves algebraic patterns just as the Jacquard loom weaves flowers and leaves.",
    status: "published",
  });
  await rows.create(posts, { title: "Plans for the spring" });
  await rows.create(comments, { postId: post.id, body: "The first program, before there was a machine." });
}

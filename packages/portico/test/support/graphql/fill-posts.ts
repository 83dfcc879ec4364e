// Rows for tests of GraphQL.

import type { TestServer } from "../scenario.ts";

/** Creates 12 posts with comments by two users, in addition to those of a new sandbox. */
export async function fillPosts(server: TestServer): Promise<void> {
  const mary = await server.create("/users", { name: "Mary", email: "mary@example.com" });
  for (let number = 1; number <= 12; number += 1) {
    const by = number % 2 === 0 ? { authorId: mary.id } : {};
    const post = await server.create("/posts", { title: `Post ${number}`, status: "published", ...by });
    for (const body of ["first", "second", "third"])
      await server.create(`/posts/${post.id}/comments`, { body, ...by });
  }
}

import type { Rows } from "portico";
import { comments } from "./comments.ts";
import { deployments } from "./deployments.ts";
import { posts } from "./posts.ts";
import { projects } from "./projects.ts";

/** Sample rows of a new sandbox. */
export async function seed(rows: Rows): Promise<void> {
  const engine = await rows.create(posts, {
    title: "On the Analytical Engine",
    body: "It weaves algebraic patterns just as the Jacquard loom weaves flowers and leaves.",
    status: "published",
  });
  await rows.create(posts, {
    title: "Note G",
    body: "How the numbers of Bernoulli may be computed.",
    status: "published",
  });
  await rows.create(posts, { title: "Plans for the spring" });
  await rows.create(comments, { postId: engine.id, body: "The first program, before there was a machine." });
  const project = await rows.create(projects, { name: "Difference Engine" });
  await rows.create(deployments, {
    projectId: project.id,
    ref: "main",
    status: "live",
    url: "https://engine.example.com",
  });
}

import { app } from "portico";
import { comments } from "./service/comments.ts";
import { deployments } from "./service/deployments.ts";
import { posts } from "./service/posts.ts";
import { projects } from "./service/projects.ts";
import { seed } from "./service/sample.ts";

export default app({
  name: "Portico",
  license: { name: "MIT", identifier: "MIT" },
  resources: [posts, comments, projects, deployments],
  seed,
});

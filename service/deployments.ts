import { belongsTo, choice, range, resource, text } from "portico";
import { projects } from "./projects.ts";

export const deployments = resource("deployment", {
  version: "v1",
  scopes: { read: "deploy:read", write: "deploy:write" },
  fields: {
    project: belongsTo(() => projects),
    ref: text({ min: 1, max: 255 }),
    status: choice(["queued", "building", "live", "failed"], { default: "queued" }),
    url: text({ max: 2_000, format: "uri", optional: true }),
  },
  filter: ["projectId", "status", range("createdAt")],
  sort: ["createdAt", "updatedAt"],
});

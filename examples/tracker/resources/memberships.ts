import { belongsTo, resource, users } from "portico";
import { projects } from "./projects.ts";

/** The members of a project. Those who see the project see them; those who may change it add and remove them. */
export const memberships = resource("membership", {
  parent: projects,
  fields: { user: belongsTo(() => users, { onDelete: "cascade" }) },
  unique: [["projectId", "userId"]],
});

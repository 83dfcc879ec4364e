import { belongsTo, resource, text, users } from "portico";
import { issues } from "./projects.ts";

export const comments = resource("comment", {
  parent: issues,
  fields: {
    body: text({ min: 1, max: 10_000 }),
    author: belongsTo(() => users, { default: "caller", readOnly: true }),
  },
});

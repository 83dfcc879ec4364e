// The project of the rows with a policy: projects that their members see, and plans, which everybody sees.

import { app, belongsTo, resource, text, users } from "portico";

const fields = { name: text({ max: 200 }) };

export const plans = resource("plan", { fields });

export const projects = resource("project", {
  fields,
  policy: { read: ({ caller }) => ({ members: { some: { userId: caller.userId } } }) },
});

export const members = resource("member", {
  fields: { project: belongsTo(() => projects), user: belongsTo(() => users) },
  unique: [["projectId", "userId"]],
});

export default app({ name: "Memberships", resources: [plans, projects, members] });

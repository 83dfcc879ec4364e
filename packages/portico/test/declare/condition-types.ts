// Types of conditions on related rows, checked by the compiler: choices of a parent need no `as const`, and wrong ones are
// errors.

import { belongsTo, choice, resource, text } from "../../src/index.ts";

const name = text({ max: 50 });
const projects = resource("project", { fields: { name, closing: choice(["allowed", "refused"]) } });
const fields = { name, state: choice(["open", "done"]), lead: belongsTo(() => projects) };

export const conditions = [
  resource("issue", { parent: projects, fields, policy: () => ({ project: { closing: "allowed" } }) }),
  resource("issue", {
    parent: projects,
    fields,
    policy: { write: ({ caller }) => caller.role === "owner" || { project: { closing: ["allowed"] } } },
  }),
  resource("issue", {
    parent: projects,
    fields,
    policy: ({ caller }) => ({
      OR: [{ project: { closing: "allowed" } }, { lead: { closing: "refused", name: caller.userId ?? "" } }],
      NOT: { state: { in: ["done"] } },
      comments: { some: { kind: "note", rank: { gte: 1 } } },
    }),
  }),
  // @ts-expect-error no choice of the parent
  resource("issue", { parent: projects, fields, policy: () => ({ project: { closing: "never" } }) }),
  // @ts-expect-error no choice of the field
  resource("issue", { parent: projects, fields, policy: () => ({ state: "never" }) }),
  // @ts-expect-error a function is no condition
  resource("issue", { parent: projects, fields, policy: () => ({ comments: { some: () => true } }) }),
];

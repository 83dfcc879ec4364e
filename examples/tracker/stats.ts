import { date, integer, route } from "portico";
import { issues, projects } from "./resources/projects.ts";

export const stats = route(
  "GET /v1/stats",
  {
    scope: "stats:read",
    query: { overdueOn: date({ default: "today" }) },
    answer: { projects: integer(), openIssues: integer(), overdueIssues: integer() },
  },
  async ({ rows, query }) => ({
    projects: await rows.count(projects),
    openIssues: await rows.count(issues, { status: "open" }),
    overdueIssues: await rows.count(issues, { status: "open", dueOn: { lt: query.overdueOn } }),
  }),
);

import { app } from "portico";
import { attachments } from "./resources/attachments.ts";
import { comments } from "./resources/comments.ts";
import { labels } from "./resources/labels.ts";
import { memberships } from "./resources/memberships.ts";
import { noticeClosedIssue, noticeOverdueIssues, notices } from "./resources/notices.ts";
import { issues, milestones, projects } from "./resources/projects.ts";
import { roles } from "./roles.ts";
import { stats } from "./stats.ts";

export default app({
  name: "Tracker",
  // /openapi.json and /docs name it. A public API has an SPDX identifier, such as MIT, or a url.
  license: { name: "All rights reserved", identifier: "LicenseRef-AllRightsReserved" },
  resources: [labels, projects, memberships, milestones, issues, comments, attachments, notices],
  roles,
  routes: [stats],
  on: { "issue.updated": noticeClosedIssue },
  schedules: { "overdue-issues": { cron: "0 7 * * 1-5", run: noticeOverdueIssues } },
});

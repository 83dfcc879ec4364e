// Projects, their milestones and their issues: one file, because projects and milestones count the issues that refer to
// them, and a parent must be declared before its children.

import {
  belongsTo,
  boolean,
  choice,
  count,
  date,
  decimal,
  manyToMany,
  Problem,
  type Rows,
  range,
  resource,
  text,
  users,
} from "portico";
import { isMember, managesProjects } from "../roles.ts";
import { labels } from "./labels.ts";

export const projects = resource("project", {
  fields: {
    name: text({ min: 1, max: 200 }),
    isPublic: boolean({ default: false }),
    budget: decimal({ precision: 12, scale: 2, min: "0", optional: true }),
    openIssues: count(() => issues, { where: { status: "open" }, kept: true }),
    allIssues: count(() => issues),
  },
  filter: ["isPublic", range("budget"), range("openIssues")],
  sort: ["name", "budget", "openIssues"],
  policy: {
    read: (context) => {
      if (managesProjects(context)) return true;
      if (context.caller.kind === "anonymous") return { isPublic: true };
      return { OR: [{ isPublic: true }, { memberships: { some: { userId: context.caller.userId } } }] };
    },
    write: managesProjects,
  },
  public: ["list", "get"],
});

export const milestones = resource("milestone", {
  parent: projects,
  fields: {
    name: text({ min: 1, max: 100 }),
    dueOn: date({ optional: true }),
    openIssues: count(() => issues, { where: { status: "open" } }),
  },
  sort: ["dueOn"],
  public: ["list", "get"],
});

export const issues = resource("issue", {
  parent: projects,
  fields: {
    title: text({ min: 1, max: 200 }),
    status: choice(["open", "closed"], { default: "open" }),
    priority: choice(["low", "normal", "high"], { ordered: true, default: "normal" }),
    dueOn: date({ optional: true }),
    cost: decimal({ precision: 10, scale: 2, min: "0", optional: true }),
    estimate: text({ max: 20, optional: true }),
    milestone: belongsTo(() => milestones, { optional: true }),
    author: belongsTo(() => users, { default: "caller", readOnly: true }),
    labels: manyToMany(() => labels, { max: 20 }),
  },
  filter: [
    "status",
    "milestoneId",
    "labelIds",
    "labels.name",
    range("priority"),
    range("dueOn"),
    range("cost"),
  ],
  sort: ["priority", "dueOn", "cost"],
  search: ["title"],
  softDelete: { purgeAfterDays: 30 },
  hooks: {
    before: {
      create: async ({ milestoneId }, { rows, parentId }): Promise<undefined> =>
        requireMilestoneOf(rows, parentId, milestoneId),
      update: async ({ milestoneId }, { rows, current }): Promise<undefined> =>
        requireMilestoneOf(rows, current.projectId, milestoneId),
    },
  },
  policy: { create: isMember, update: isMember, delete: isMember },
  actions: {
    closings: {
      on: "collection",
      verb: "close",
      input: { milestone: belongsTo(() => milestones) },
      run: ({ rows, parentId, input }): Promise<{ count: number }> =>
        rows.updateMany(
          issues,
          { projectId: parentId, milestoneId: input.milestoneId, status: "open" },
          { status: "closed" },
        ),
    },
  },
  public: ["list", "get"],
});

/** @throws Problem if the milestone is one of another project */
async function requireMilestoneOf(
  rows: Rows,
  projectId: string,
  milestoneId: string | null | undefined,
): Promise<undefined> {
  if (!milestoneId || (await rows.count(milestones, { id: milestoneId, projectId })) > 0) return;
  throw new Problem("validation_error", "`milestoneId` is a milestone of another project.", [
    { field: "milestoneId", issue: "reference" },
  ]);
}

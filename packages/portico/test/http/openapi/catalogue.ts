// An app that uses every kind of field, operation and route.

import {
  app,
  belongsTo,
  boolean,
  choice,
  computedStatus,
  contains,
  count,
  date,
  decimal,
  file,
  id,
  integer,
  json,
  list,
  manyToMany,
  number,
  type Resource,
  range,
  resource,
  route,
  startsWith,
  text,
  timestamp,
  users,
} from "../../../src/index.ts";

const labels = resource("label", {
  description: "A word for issues.",
  fields: { word: text({ max: 40, pattern: /[a-z]{2,10}(?:-\d+)?/, unique: true }) },
  paging: "page",
  sort: ["word"],
});

const projects = resource("project", {
  fields: {
    name: text({ min: 1, max: 80, description: "What people call it." }),
    code: text({ max: 5, pattern: /[A-Z]{2,5}/, immutable: true }),
    site: text({ format: "uri", optional: true, max: 200 }),
    contact: text({ format: "email", optional: true }),
    budget: decimal({ precision: 10, scale: 2, min: "0.00", default: "0.00" }),
    startsOn: date({ default: "today", min: "2000-01-01", max: "2099-12-31" }),
    isPublic: boolean({ default: false }),
    owner: belongsTo(() => users, { default: "caller" }),
    openIssues: count(() => issues, { where: { status: "open" } }),
    allIssues: count(() => issues, { kept: true }),
    oldName: text({ optional: true, deprecated: { since: "2026-01-01", sunset: "2027-01-01" } }),
  },
  filter: [
    "name",
    "isPublic",
    "ownerId",
    range("startsOn"),
    range("budget"),
    contains("name"),
    startsWith("code"),
  ],
  sort: ["name", "startsOn", "budget", "allIssues"],
  search: ["name"],
  nestedUnder: ["owner"],
  public: ["list", "get"],
});

const issues = resource("issue", {
  parent: projects,
  fields: {
    title: text({ min: 1, max: 100 }),
    status: choice(["open", "closed"], { default: "open" }),
    priority: choice(["low", "high"], { default: "low", ordered: true }),
    points: integer({ min: 0, max: 100, optional: true }),
    estimate: number({ min: 0, default: 1.5 }),
    tags: list(text({ max: 20 }), { max: 5, default: [] }),
    labels: manyToMany(() => labels),
    blockedBy: belongsTo((): Resource => issues, { optional: true }),
    external: id({ optional: true }),
    dueAt: timestamp({ optional: true }),
    meta: json({ optional: true, schema: { type: "object", properties: { colour: { type: "string" } } } }),
    anything: json({ default: {} }),
    cover: file({ optional: true, max: "10 KB", types: ["image/*"] }),
    urgency: computedStatus("fine", [{ status: "overdue", from: "dueAt" }]),
  },
  filter: ["status", "tags", "labelIds", "priority", range("dueAt"), range("points"), "blockedById"],
  sort: ["title", "priority", "dueAt"],
  search: ["title"],
  softDelete: true,
  actions: {
    closings: {
      verb: "close",
      input: { reason: text({ max: 50, optional: true }) },
      run: ({ rows, current }): Promise<{ id: string }> =>
        rows.update(issues, current.id, { status: "closed" }),
    },
    sweeps: {
      on: "collection",
      verb: "sweep",
      input: { status: choice(["open", "closed"]) },
      answer: { count: integer() },
      run: async ({ rows, parentId, input }): Promise<{ count: number }> => ({
        count: await rows.count(issues, { projectId: parentId, status: input.status }),
      }),
    },
  },
});

const payments = resource("payment", {
  fields: {
    amount: decimal({ precision: 8, scale: 2, min: "0.01" }),
    cancelledAt: timestamp({ optional: true, readOnly: true }),
  },
  idempotencyKey: "required",
  markOnDelete: "cancelledAt",
  deprecated: { since: "2026-01-01" },
});

export const catalogue = app({
  name: "Catalogue",
  description: "Everything that an API can have.",
  contact: { name: "Support", url: "https://example.com/support" },
  license: { name: "MIT", identifier: "MIT" },
  resources: [labels, projects, issues, payments],
  routes: [
    route(
      "GET /v1/stats/{year}",
      {
        scope: "projects:read",
        parameters: { year: integer({ min: 2000, max: 2100 }) },
        query: { tag: list(text({ max: 10 }), { max: 3, default: [] }) },
        answer: { year: integer(), open: integer() },
        description: "Counts the open issues.",
      },
      async ({ rows, parameters }) => ({
        year: parameters.year,
        open: await rows.count(issues, { status: "open" }),
      }),
    ),
    route(
      "POST /v1/projects/{id}/pings",
      { scope: "projects:write", input: { message: text({ max: 20 }) }, deprecated: { since: "2026-01-01" } },
      async () => undefined as never,
    ),
  ],
});

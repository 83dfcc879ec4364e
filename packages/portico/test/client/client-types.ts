// Types of the client, inferred from declarations: `tsc` fails if one of them is wrong.

import { app, belongsTo, integer, resource, text } from "portico";
import { type Client, createClient } from "portico/client";
import type tracker from "../../../../examples/tracker/portico.config.ts";
import type service from "../../../../portico.config.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function holds<_Fact extends true>(): void {}

const client: Client<typeof service> = createClient<typeof service>({ baseUrl: "http://127.0.0.1:3000" });

export async function usedService(): Promise<void> {
  const { data } = await client.posts.list({ status: "draft", sort: "-createdAt", limit: 5, q: "engine" });
  holds<Equal<(typeof data)[number]["status"], "draft" | "published" | "archived">>();
  holds<Equal<(typeof data)[number]["authorId"], string>>();
  await client.posts.list({ status: ["draft", "archived"], authorId: null, sort: ["title", "-updatedAt"] });
  await client.posts.list({ status: { ne: "draft" }, authorId: { in: ["user_1"] } });
  await client.deployments.list({
    createdAt: { gte: "2026-01-01", lt: "2027-01-01" },
    projectId: "project_1",
  });
  // @ts-expect-error there is no such status
  await client.posts.list({ status: "lost" });
  // @ts-expect-error there is no such filter
  await client.posts.list({ titel: "x" });
  // @ts-expect-error posts are not sorted by their body
  await client.posts.list({ sort: "body" });
  // @ts-expect-error the status has no range
  await client.posts.list({ status: { gte: "draft" } });
  // @ts-expect-error projects have no numbered pages
  await client.projects.list({ page: 1 });
  // @ts-expect-error comments of issues have no filters
  tracked.issues("issue_1").comments.list({ body: "x" });
  // @ts-expect-error deployments are not searched
  await client.deployments.list({ q: "main" });

  const narrow = await client.posts.get("post_1", { fields: ["title", "author.name"] });
  holds<Equal<typeof narrow.title, string>>();
  const name: string | undefined = narrow.author?.name;
  // @ts-expect-error the body was not asked for
  narrow.body;
  // @ts-expect-error there is no such field
  await client.posts.get("post_1", { fields: ["titel"] });
  // @ts-expect-error users have no such field
  await client.posts.get("post_1", { fields: ["author.titel"] });
  for await (const post of client.posts.all({ fields: ["title"] })) {
    holds<Equal<typeof post.title, string>>();
    // @ts-expect-error the status was not asked for
    post.status;
  }

  const created = await client.posts.create({ title: name ?? "x" });
  holds<Equal<typeof created.updatedAt, string>>();
  // @ts-expect-error the title is missing
  await client.posts.create({ body: "x" });
  // @ts-expect-error the server sets the id
  await client.posts.create({ title: "x", id: "post_1" });
  await client.posts.update(created.id, { status: "published" }, { ifMatch: '"x"' });
  await client.posts.replace(created.id, { title: "x" });
  const gone: unknown = await client.posts.delete(created.id);
  void gone;

  const comment = await client.posts(created.id).comments.create({ body: "x" });
  holds<Equal<typeof comment.postId, string>>();
  await client.comments.update(comment.id, { body: "y" });
  // @ts-expect-error comments are listed under their posts
  await client.comments.list();
  // @ts-expect-error posts have no deployments
  client.posts(created.id).deployments;

  // The server's own resources.
  const { key } = await client.apiKeys.create({ name: "x", scopes: ["posts:read"] });
  holds<Equal<typeof key, string>>();
  const rotated = await client.apiKeys.rotations("key_1", { overlapSeconds: 60 });
  holds<Equal<typeof rotated.key, string>>();
  await client.users("user_1").apiKeys.deleteAll();
  await client.users.list({ page: 2, perPage: 5, email: "ada@example.com" });
  await client.webhookEndpoints.create({ url: "https://example.com", eventTypes: ["post.*"] });
  // @ts-expect-error deliveries are read-only
  await client.webhookDeliveries.create({});

  for await (const event of client.subscribe("post.created", { filter: { status: "draft" } })) {
    holds<Equal<typeof event.data.title, string>>();
    holds<Equal<typeof event.type, "post.created">>();
  }
  for await (const { data: key } of client.subscribe("api_key.updated", { fields: ["name"] }))
    holds<Equal<typeof key.name, string>>();
  // @ts-expect-error there is no such event
  client.subscribe("pots.created");
  // @ts-expect-error there is no such filter
  client.subscribe("post.created", { filter: { titel: "x" } });
  for await (const row of client.posts.export({ status: "draft", fields: ["title"], limit: 10 }))
    holds<Equal<typeof row.title, string>>();
  for await (const event of client.events.all({ type: "post.created" })) event.resourceId;
}

const tracked = createClient<typeof tracker>({ baseUrl: "http://127.0.0.1:3000", credential: "sk_test_x" });

export async function usedTracker(): Promise<void> {
  const { data } = await tracked.projects("project_1").issues.list({
    priority: { gte: "normal" },
    labelIds: ["label_1"],
    "labels.name": "bug",
    milestoneId: null,
    sort: "-priority",
    deleted: true,
    fields: ["title", "labelIds", "labels.name", "milestone.name", "project.openIssues", "deletedAt"],
  });
  const [issue] = data;
  const names: readonly string[] | undefined = issue?.labels.map(({ name }) => name);
  const milestone: string | undefined = issue?.milestone?.name;
  const open: number | undefined = issue?.project?.openIssues;
  const count = await tracked.projects("project_1").issues.closings({ milestoneId: "milestone_1" });
  holds<Equal<typeof count.count, number>>();
  // @ts-expect-error the milestone is missing
  await tracked.projects("project_1").issues.closings({});
  // @ts-expect-error issues are closed in a project
  await tracked.issues.closings({ milestoneId: "milestone_1" });
  const restored = await tracked.issues.restorations("issue_1");
  holds<Equal<typeof restored.cost, string | null>>();
  const counted = await tracked.projects.get("project_1", { fields: ["allIssues"] });
  holds<Equal<typeof counted.allIssues, number>>();
  // @ts-expect-error it is counted only where it is selected
  (await tracked.projects.get("project_1")).allIssues;
  const { file } = await tracked.issues("issue_1").attachments.create({ file: new Blob(["x"]) });
  const url: string = file.url;
  const stats = await tracked.request("GET /v1/stats", { query: { overdueOn: "2026-12-01" } });
  holds<Equal<typeof stats.overdueIssues, number>>();
  // @ts-expect-error a day is text
  await tracked.request("GET /v1/stats", { query: { overdueOn: 1 } });
  const anything: unknown = await tracked.request("GET /v1/grants");
  // @ts-expect-error notices are read-only
  tracked.notices.delete;
  void [names, milestone, open, url, anything];
}

/** Each method with an answer that is too wide or too narrow, or an argument that is missing. */
export async function usedEachMethod(): Promise<void> {
  const page = await client.projects.list();
  holds<Equal<typeof page.pagination.nextCursor, string | null>>();
  holds<Equal<typeof page.data, readonly Project[]>>();
  type Project = Awaited<ReturnType<typeof client.projects.create>>;
  const read = await client.projects.get("project_1");
  holds<Equal<typeof read, Awaited<ReturnType<typeof client.projects.update>>>>();
  holds<Equal<typeof read, Awaited<ReturnType<typeof client.projects.replace>>>>();
  const nothing = await client.projects.delete("project_1");
  holds<Equal<typeof nothing, void>>();
  const id = await client.projects.get("project_1", { fields: ["id"] });
  holds<Equal<typeof id, { readonly id: string }>>();
  const paths: readonly string[] = ["name"];
  // @ts-expect-error names that are known only at run time are not checked
  await client.projects.list({ fields: paths });
  // @ts-expect-error an id is needed
  await client.projects.get();
  // @ts-expect-error an id is text
  await client.projects.get(1);
  // @ts-expect-error a name is text
  await client.projects.update("project_1", { name: 1 });
  // @ts-expect-error there is no such field
  await client.projects.update("project_1", { nmae: "x" });
  // @ts-expect-error the name is missing
  await client.projects.replace("project_1", {});
  // @ts-expect-error deleting has no input
  await client.projects.delete("project_1", { name: "x" });
  // @ts-expect-error an export has no cursor
  client.projects.export({ cursor: "x" });
  // @ts-expect-error an export has no such filter
  client.posts.export({ titel: "x" });
  const imported = await client.projects.import([{ name: "x" }], { mode: "upsert", by: "slug" });
  holds<Equal<typeof imported.created, number>>();
  // @ts-expect-error there is no such mode
  await client.projects.import([], { mode: "replace" });
  // @ts-expect-error rows are objects
  await client.projects.import(["x"]);
  // @ts-expect-error keys are not exported
  client.apiKeys.export;
  // @ts-expect-error keys are not imported
  client.apiKeys.import;
  // @ts-expect-error users are created one by one
  client.users.import;
  for await (const user of client.users.export()) holds<Equal<typeof user.email, string>>();
  const me = await client.me();
  holds<Equal<typeof me.kind, "key" | "user" | "client" | "anonymous">>();
  const event = await client.events.get("event_1");
  holds<Equal<typeof event.resourceId, string>>();
  for await (const each of client.events.export({ type: ["post.created"] }))
    holds<Equal<typeof each.id, string>>();
  // @ts-expect-error events are read-only
  client.events.create;
  // @ts-expect-error the row was not asked for
  for await (const { data } of client.subscribe("post.created", { fields: ["title"] })) data.status;
  // @ts-expect-error a credential is text
  createClient<typeof service>({ baseUrl: "", credential: () => 1 });
}

// @ts-expect-error an address is needed
createClient<typeof service>({ credential: "x" });

const pages = resource("page", { fields: { number: integer() }, version: "v1" });
const articles = resource("article", {
  fields: { headline: text({ max: 20 }), page: belongsTo(() => pages, { optional: true }) },
  filter: ["headline"],
  versions: { v1: { title: "headline" } },
});
const drafts = resource("draft", { fields: { number: integer() }, exposed: false });
const nextVersion = app({
  name: "Next",
  version: "v2",
  versions: { v1: {} },
  resources: [articles, pages, drafts],
});
const next = createClient<typeof nextVersion>({ baseUrl: "http://127.0.0.1:3000", version: "v2" });
// @ts-expect-error the version is needed
createClient<typeof nextVersion>({ baseUrl: "http://127.0.0.1:3000" });
// @ts-expect-error the types are those of the current version
createClient<typeof nextVersion>({ baseUrl: "http://127.0.0.1:3000", version: "v1" });
// @ts-expect-error the service has one version
createClient<typeof service>({ baseUrl: "http://127.0.0.1:3000", version: "v2" });

export async function usedNextVersion(): Promise<void> {
  const { data } = await next.articles.list({ headline: "x" });
  holds<Equal<(typeof data)[number]["headline"], string>>();
  // @ts-expect-error only v1 calls it so
  await next.articles.list({ title: "x" });
  // @ts-expect-error only v1 calls it so
  await next.articles.create({ title: "x" });
  // @ts-expect-error only v1 has pages
  next.pages;
  // @ts-expect-error drafts are not exposed
  next.drafts;
}

// Rows that a policy hides, wherever an API shows or takes rows: many-to-many fields, counts, lists, deleted rows, older
// versions, routes, actions, tools of MCP, uploads, webhooks and repeated requests.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  app,
  belongsTo,
  choice,
  count,
  file,
  integer,
  list,
  manyToMany,
  type PolicyContext,
  type Resource,
  resource,
  route,
  text,
  users,
} from "../../../src/index.ts";
import { textFile, uploadFile } from "../../support/files.ts";
import { makeKey } from "../../support/keys.ts";
import { callTool, connect } from "../../support/mcp.ts";
import { makeUser } from "../../support/oauth.ts";
import { makeTenant } from "../../support/scenario.ts";
import { type Answer, onEachDatabase } from "../../support/server.ts";
import { serveWebhooks } from "../../support/webhooks.ts";
import { describe, isRefused, type RowRequest, send } from "./row-requests.ts";

const isOwner = ({ caller }: PolicyContext): boolean => caller.role === "owner";
const title = text({ max: 60 });
const softDelete = true;
/** A condition on rows whose fields the compiler does not know, because their resources refer to each other. */
const where = (condition: object): never => condition as never;

const labels = resource("label", {
  fields: { name: title, kind: choice(["plain", "secret"], { default: "plain" }) },
  filter: ["name"],
  search: ["name"],
  policy: { read: (context) => isOwner(context) || { kind: "plain" }, write: isOwner },
});
const projects: Resource = resource("project", {
  fields: {
    name: title,
    labels: manyToMany(() => labels),
    tags: list(title, { max: 5, default: [] }),
    logo: file({ optional: true, max: 1_000 }),
    openIssues: count((): Resource => issues, { by: "project", where: { status: "open" } }),
    mentions: count((): Resource => issues, { by: "origin" }),
  },
  filter: ["name", "labels.name", "tags", "issuesAsOrigin.title"],
  sort: ["name"],
  search: ["name"],
  nestedUnder: ["tenant"],
  softDelete,
  versions: { v1: { heading: "name" } },
  policy: (context) => isOwner(context) || { memberships: { some: { userId: context.caller.userId } } },
});
const memberships = resource("membership", { parent: projects, fields: { user: belongsTo(() => users) } });
const issues: Resource = resource("issue", {
  parent: projects,
  fields: {
    title,
    status: choice(["open", "secret", "closed"], { default: "open" }),
    blocker: belongsTo((): Resource => issues, { optional: true, onDelete: "setNull" }),
    origin: belongsTo(() => projects, { optional: true, onDelete: "setNull" }),
    labels: manyToMany(() => labels),
    blocked: count((): Resource => issues, { by: "blocker" }),
  },
  filter: ["title", "blocker.title", "origin.name", "labels.name"],
  search: ["title"],
  nestedUnder: ["tenant"],
  softDelete,
  versions: { v1: { subject: "title" } },
  policy: { read: (context) => isOwner(context) || { status: { not: "secret" as const } } },
  actions: {
    sweeps: {
      on: "collection",
      input: { origin: belongsTo(() => projects, { optional: true }) },
      answer: { closed: integer() },
      run: async ({ rows, parentId }) => ({
        closed: (await rows.updateMany(issues, where({ projectId: parentId }), { status: "closed" })).count,
      }),
    },
  },
});

const stats = route(
  "GET /v2/stats",
  { scope: "issues:read", answer: { projects: integer(), issues: integer(), hidden: integer() } },
  async ({ rows }) => ({
    projects: await rows.count(projects),
    issues: await rows.count(issues),
    hidden: await rows.count(
      issues,
      where({ OR: [{ status: "secret" }, { title: { startsWith: "hidden" } }] }),
    ),
  }),
);
const wipes = route(
  "POST /v2/wipes",
  { scope: "issues:write", input: { word: title }, answer: { updated: integer(), deleted: integer() } },
  async ({ rows, input: { word } }) => ({
    updated: (await rows.updateMany(issues, where({ title: { startsWith: word } }), { title: "taken" }))
      .count,
    deleted: (await rows.deleteMany(issues, where({ title: { startsWith: word } }))).count,
  }),
);

const ofMembers = ["projects", "issues", "labels"].flatMap((each) => [`${each}:read`, `${each}:write`]);
const declared = app({
  name: "Tracker",
  version: "v2",
  versions: { v1: {} },
  resources: [labels, projects, memberships, issues],
  routes: [stats, wipes],
  roles: {
    owner: "*",
    member: [...ofMembers, "memberships:read", "events:read", "webhooks:read", "webhooks:manage"],
  },
});

interface Ids {
  readonly project: string;
  readonly issue: string;
  readonly deletedProject: string;
  readonly deletedIssue: string;
  readonly label: string;
}

onEachDatabase("hidden rows everywhere", (database) => {
  let key = "";
  let open = "";
  let issue = "";
  let membership = "";
  let hidden: readonly Ids[];
  const { server, receiver } = serveWebhooks(database, {
    app: declared,
    prepare: async (started) => {
      const add = async (path: string, body: object): Promise<string> =>
        (await started.create(path, body)).id;
      const remove = async (path: string): Promise<void> => {
        assert.equal((await started.request(path, { method: "DELETE" })).status, 204, path);
      };
      const bob = await makeUser(started, "bob@example.com");
      key = (await makeKey(started, { ownerId: bob.id, scopes: ["*"] })).key;
      const label = await add("/labels", { name: "hidden label", kind: "secret" });
      open = await add("/projects", { name: "open plans", labelIds: [label] });
      membership = await add(`/projects/${open}/memberships`, { userId: bob.id });
      const project = await add("/projects", { name: "hidden plans", tags: ["hidden tag"] });
      issue = await add(`/projects/${open}/issues`, { title: "open", originId: project, labelIds: [label] });
      const inHidden = { originId: open, blockerId: issue };
      const secret = { title: "hidden secret", status: "secret" };
      const deletedProject = await add("/projects", { name: "hidden gone" });
      const ofProject = await add(`/projects/${project}/issues`, { title: "hidden", ...inHidden });
      const goneOfProject = await add(`/projects/${project}/issues`, { title: "hidden gone" });
      const ofOpen = await add(`/projects/${open}/issues`, { ...secret, ...inHidden });
      const goneOfOpen = await add(`/projects/${open}/issues`, secret);
      for (const path of [`/projects/${deletedProject}`, `/issues/${goneOfProject}`, `/issues/${goneOfOpen}`])
        await remove(path);
      const both = { project, deletedProject, label };
      hidden = [
        { ...both, issue: ofProject, deletedIssue: goneOfProject },
        { ...both, issue: ofOpen, deletedIssue: goneOfOpen },
      ];
    },
  });
  const asBob = (request: RowRequest): Promise<Answer> => send(server, request, key);
  const graphql = (query: string): RowRequest => ({ path: "/graphql", body: { query } });

  test("no read shows them, nor is a number or a filter decided by them", async () => {
    const reads: readonly (readonly [path: string, expected: RegExp])[] = [
      ["/projects?fields=name,labels.name,openIssues,mentions", /"openIssues":1,"mentions":0,"labels":\[\]/],
      [`/projects/${open}?fields=openIssues,mentions`, /"openIssues":1,"mentions":0/],
      [
        `/projects/${open}/issues?fields=title,blocked,origin.name,labels.name`,
        /"blocked":0,"origin":null,"labels":\[\]/,
      ],
      ...["labels.name=hidden%20label", "tags=hidden%20tag", "issuesAsOrigin.title=hidden"].map(
        (filter) => [`/projects?${filter}`, /"data":\[\]/] as const,
      ),
      ["/v1/projects?heading=hidden%20plans", /"data":\[\]/],
      ["/v1/projects?issuesAsOrigin.subject=hidden", /"data":\[\]/],
      ["/projects?deleted=true", /"data":\[\]/],
      [`/projects/${open}/issues?deleted=true`, /"data":\[\]/],
      ["/v1/exports/projects?deleted=true", /^$/],
      ["/v2/exports/issues?fields=title,blocked", /^\{"id":"[^"]+","title":"open","blocked":0\}\n$/],
      ["/v2/stats", /^\{"projects":1,"issues":1,"hidden":0\}$/],
      ["/labels", /"data":\[\]/],
    ];
    for (const [path, expected] of reads) {
      const { status, text } = await asBob({ path });
      assert.equal(status, 200, `${path}: ${text}`);
      assert.match(text, expected, path);
      assert.doesNotMatch(text, /hidden (?!")|"hidden"(?!:0)/, path);
    }
    const documents: readonly (readonly [query: string, expected: object])[] = [
      [
        "{ projects { openIssues mentions labels { name } issuesAsOrigin { id } issuesAsProject { blocked } } }",
        {
          projects: [
            { openIssues: 1, mentions: 0, labels: [], issuesAsOrigin: [], issuesAsProject: [{ blocked: 0 }] },
          ],
        },
      ],
      ["{ projects(deleted: true) { name } }", { projects: [] }],
      [
        `{ projectsConnection(filter: { labels: { none: { name: "hidden label" } } }) { edges { node { id } } } }`,
        { projectsConnection: { edges: [{ node: { id: open } }] } },
      ],
      [`{ search(q: "hidden") { __typename } }`, { search: [] }],
    ];
    for (const [query, expected] of documents)
      assert.deepEqual((await asBob(graphql(query))).body, { data: expected }, query);
  });

  const requestsAbout = ({
    project,
    issue: other,
    deletedProject,
    deletedIssue,
    label,
  }: Ids): RowRequest[] => {
    const post = (path: string, body: object = {}): RowRequest => ({ method: "POST", path, body });
    const patch = (path: string, body: object): RowRequest => ({ method: "PATCH", path, body });
    return [
      ...[`/v1/projects/${project}`, `/v1/projects/${project}/issues`, `/v1/issues/${other}`].map((path) => ({
        path,
      })),
      ...[`/projects/${project}/issues?deleted=true`, `/projects/${deletedProject}?deleted=true`].map(
        (path) => ({ path }),
      ),
      { path: `/issues/${deletedIssue}?deleted=true` },
      post(`/projects/${deletedProject}/restorations`),
      post(`/issues/${deletedIssue}/restorations`),
      post(`/projects/${project}/issues/sweeps`),
      post(`/projects/${open}/issues/sweeps`, { originId: project }),
      post(`/v1/projects/${project}/issues`, { subject: "added" }),
      patch(`/v1/issues/${other}`, { subject: "taken" }),
      patch(`/v1/issues/${issue}`, { blockerId: other }),
      patch(`/projects/${open}`, { labelIds: [label, label.replace(/.$/, "z")] }),
      post("/projects", { name: "new", labelIds: [label] }),
      graphql(`mutation { restoreIssue(id: "${deletedIssue}") { title } }`),
      graphql(`mutation { sweepIssues(projectId: "${project}") { closed } }`),
      graphql(
        `mutation { updateProject(id: "${open}", input: { labelIds: ["${label}"], tags: [] }) { id } }`,
      ),
      graphql(`{ project(id: "${deletedProject}", deleted: true) { name } }`),
    ];
  };

  test("a request about one is answered as about a row that does not exist", async () => {
    await server.request(`/projects/${open}`, { method: "PATCH", body: { labelIds: [] } });
    for (const ids of hidden) {
      const missing = Object.entries(ids).map(([name, id]) => [name, id.replace(/[^_]+$/, "0".repeat(26))]);
      const others = requestsAbout(Object.fromEntries(missing) as Ids);
      for (const [index, request] of requestsAbout(ids).entries()) {
        const [answer, other] = [await asBob(request), await asBob(others[index]!)];
        assert.ok(isRefused(answer), `${describe(request)}: ${answer.status} ${answer.text}`);
        assert.deepEqual([answer.status, answer.text], [other.status, other.text], describe(request));
      }
    }
    const wiped = await asBob({ method: "POST", path: "/v2/wipes", body: { word: "hidden" } });
    assert.deepEqual(wiped.body, { updated: 0, deleted: 0 });
  });

  test("tools of MCP show and take none", async () => {
    const client = await connect(server, key);
    for (const { project, issue: other, deletedIssue } of hidden)
      for (const [name, input] of [
        ["list_projects", { deleted: "true" }],
        ["list_projects", { "labels.name": "hidden label" }],
        ["get_project", { id: project }],
        ["list_issues", { parentId: project }],
        ["update_issue", { id: other, title: "taken" }],
        ["restore_issue", { id: deletedIssue }],
        ["get_stats", {}],
      ] as const) {
        const answer = JSON.stringify(await callTool(client, name, input));
        assert.doesNotMatch(answer, /hidden (?!")/, name);
        assert.match(answer, /not_found|\\"data\\":\[\]|\\"hidden\\":0/, answer);
      }
    const uri = `portico://projects/${hidden[0]!.project}`;
    await assert.rejects(client.readResource({ uri }), (error) => !String(error).includes("hidden"));
    await client.close();
  });

  test("the upload of somebody else cannot be put into a row, nor read without its signed address", async () => {
    const upload = await uploadFile(server.portico, "projects", "logo", textFile("a.txt", "hidden text"));
    const put = { method: "PATCH", path: `/projects/${open}`, body: { logo: upload } };
    assert.equal((await asBob(put)).body.error.details[0].issue, "reference");
    const logo = { method: "PATCH", body: { logo: upload } };
    assert.equal((await server.request(`/projects/${hidden[0]!.project}`, logo)).status, 200);
    assert.equal((await asBob(put)).body.error.details[0].issue, "reference");
    assert.equal((await asBob({ path: `/v1/files/${upload}` })).status, 403);
  });

  test("who takes over a webhook endpoint gets nothing of them, also by a retry or a replay", async () => {
    const created = { url: `${receiver.url}/owner`, eventTypes: ["project.*", "issue.*"] };
    const { id } = await server.create("/v1/webhook-endpoints", created);
    await server.request(`/projects/${hidden[0]!.project}`, {
      method: "PATCH",
      body: { name: "hidden again" },
    });
    await receiver.waitFor("/owner");
    const path = `/v1/webhook-endpoints/${id}`;
    assert.equal((await asBob({ method: "PATCH", path, body: { url: `${receiver.url}/bob` } })).status, 200);
    const deliveries = (await asBob({ path: `/v1/webhook-deliveries?endpointId=${id}` })).body.data;
    assert.doesNotMatch(JSON.stringify(deliveries), /hidden/);
    const { id: delivery } = deliveries.at(-1);
    await asBob({ method: "POST", path: `/v1/webhook-deliveries/${delivery}/retries`, body: {} });
    await asBob({ method: "POST", path: `${path}/replays`, body: { from: "2020-01-01T00:00:00Z" } });
    // An event that is delivered after those of hidden rows would be.
    await server.request(`/projects/${open}`, { method: "PATCH", body: { name: "last" } });
    await receiver.waitUntil(() => receiver.at("/bob").some((each) => each.text.includes('"last"')));
    for (const received of receiver.at("/bob")) assert.doesNotMatch(received.text, /hidden/);
  });

  test("another tenant and nobody see none", async () => {
    const other = await makeTenant(server.workspace, "*");
    for (const credential of [other.key, null])
      for (const ids of hidden)
        for (const request of [
          ...requestsAbout(ids),
          { path: "/v2/stats" },
          { path: "/projects?deleted=true" },
        ]) {
          const { text: answer } = await send(server, request, credential);
          assert.doesNotMatch(answer, /hidden (?!")|open plans/, describe(request));
        }
  });

  test("a repeated request is not answered once its rows are hidden", async () => {
    const repeat = (path: string, body: object): Promise<Answer> =>
      asBob({ method: "POST", path, body, headers: { "idempotency-key": path } });
    const update = `mutation { updateIssue(id: "${issue}", input: { title: "open again" }) { title project { name } } }`;
    const requests = [
      () => repeat(`/projects/${open}/issues`, { title: "open too" }),
      () => repeat("/graphql", { query: update }),
    ];
    for (const request of requests) assert.match((await request()).text, /"title":"open/);
    assert.equal((await server.request(`/memberships/${membership}`, { method: "DELETE" })).status, 204);
    for (const request of requests) {
      const { text: answer } = await request();
      assert.match(answer, /not_found/);
      assert.doesNotMatch(answer, /"title"/);
    }
  });
});

// Requests that read, search, count and write rows of an organisation (organisation.ts), over every protocol.

import type { TestServer } from "../../support/scenario.ts";
import type { Answer, RequestOptions } from "../../support/server.ts";
import type { Rows } from "./organisation.ts";

export interface RowRequest extends Omit<RequestOptions, "key"> {
  readonly path: string;
}

/** A request that reads rows, and the ids of those that Bob gets, in any order. */
export type RowRead = readonly [request: RowRequest, expected: readonly string[]];

const get = (path: string): RowRequest => ({ path });
const graphql = (query: string): RowRequest => ({ path: "/graphql", body: { query } });

export function readsOf({
  tenantId,
  ada,
  bob,
  project,
  membership,
  issues,
  hidden,
}: Rows): readonly RowRead[] {
  const rest: readonly (readonly [path: string, expected: readonly string[]])[] = [
    ...["", "?sort=-rank", "?rank[gte]=0", "?q=plans", "?name[ne]=none", "?limit=1"].map(
      (query) => [`/projects${query}`, [project]] as const,
    ),
    ...["q=hidden", "code=hidden-code", "name=hidden%20plans", `memberships.userId=${ada}`].map(
      (query) => [`/projects?${query}`, []] as const,
    ),
    ["/projects?issuesAsProject.title=hidden%20first", []],
    ["/projects?issuesAsProject.title=hidden%20secret", []],
    ["/projects?issuesAsProject.title[ne]=visible%20first", [project]],
    [`/projects?memberships.userId=${bob.id}`, [project]],
    [`/tenants/${tenantId}/projects`, [project]],
    [`/users/${ada}/projects?sort=name`, [project]],
    [`/projects/${project}/memberships`, [membership]],
    ...["", "?sort=-title", "?status[ne]=closed", "?q=visible"].flatMap((query) => [
      [`/tenants/${tenantId}/issues${query}`, issues] as const,
      [`/projects/${project}/issues${query}`, issues] as const,
    ]),
    // The id of a hidden row is part of the visible row that refers to it, but nothing else of that row.
    [`/tenants/${tenantId}/issues?originId=${hidden.project}`, [issues[0]]],
    [`/tenants/${tenantId}/issues?blockerId=${hidden.issues[1]}`, [issues[0]]],
    ...[
      ...["q=hidden", "status=secret", "title=hidden%20secret", "blocker.title=hidden%20second"],
      ...["origin.name=hidden%20plans", "project.name=hidden%20plans"],
    ].map((query) => [`/tenants/${tenantId}/issues?${query}`, []] as const),
    ["/v1/exports/projects", [project]],
    ["/v1/exports/projects?q=hidden", []],
    ["/v1/exports/projects?total=true&sort=-rank", [project]],
    ["/v1/exports/memberships", [membership]],
    ["/v1/exports/issues?fields=title", issues],
    ["/v1/exports/issues?blocker.title=hidden%20second", []],
    ["/v1/events?resource=project&limit=100", [project]],
    ["/v1/events?resource=issue&limit=100", issues],
    [`/v1/events?resourceId=${hidden.project}&resourceId=${hidden.secret}`, []],
  ];
  const documents: readonly (readonly [document: string, expected: readonly string[]])[] = [
    [
      `{ projects(limit: 9) { id name memberships { id } issuesAsProject { id title blocker { id title } } } }`,
      [project, membership, ...issues],
    ],
    [`{ project(id: "${project}") { id issuesAsOrigin { id } owner { name } } }`, [project]],
    [
      `{ issues(projectId: "${project}") { id title origin { id name } project { id } } }`,
      [project, ...issues],
    ],
    [`{ search(q: "hidden") { __typename ... on Node { id } } }`, []],
    [`{ search(q: "plans") { ... on Project { id name } } }`, [project]],
    ...[
      [`code: "hidden-code"`, false],
      [`memberships: { some: { userId: "${ada}" } }`, false],
      [`memberships: { none: { userId: "${ada}" } }`, true],
      [`issuesAsProject: { some: { title: "hidden secret" } }`, false],
      [`issuesAsProject: { none: { title: "hidden secret" } }`, true],
      [`NOT: { code: "open-code" }`, false],
      [`OR: [{ rank: 2 }, { code: "hidden-code" }, { AND: [{ rankGte: 2 }, {}] }]`, false],
    ].map(
      ([filter, isFound]) =>
        [
          `{ projectsConnection(filter: { ${filter} }) { edges { node { id name } } pageInfo { hasNextPage } } }`,
          isFound ? [project] : [],
        ] as const,
    ),
    ...[
      [`blocker: { title: "hidden second" }`, []],
      [`origin: { name: "hidden plans" }`, []],
      [`NOT: { origin: { name: "hidden plans" } }`, issues],
      [`status: secret`, []],
    ].map(
      ([filter, expected]) =>
        [
          `{ issuesConnection(projectId: "${project}", filter: { ${filter} }) { edges { cursor node { id title } } } }`,
          expected as readonly string[],
        ] as const,
    ),
  ];
  return [
    ...rest.map(([path, expected]) => [get(path), expected] as const),
    ...documents.map(([query, expected]) => [graphql(query), expected] as const),
  ];
}

/** The row that a request is about. */
export interface Target {
  readonly project: string;
  readonly membership: string;
  readonly issue: string;
}

/**
 * Requests about a row by its id, that read it, change it, add to it or refer to it. About a hidden row, each is answered as
 * about one that does not exist.
 */
export function requestsAbout({ project, membership, issue }: Target, own: Rows): readonly RowRequest[] {
  const [, second] = own.issues;
  const send = (method: string, path: string, body?: unknown): RowRequest => ({ method, path, body });
  const fields = { title: "taken", status: "open", blockerId: null, originId: null };
  const mutation = (text: string): RowRequest => graphql(`mutation { ${text} }`);
  const lines = (path: string, ...rows: readonly object[]): RowRequest => ({
    ...{ path: `/v1/imports/${path}`, headers: { "content-type": "application/x-ndjson" } },
    body: rows.map((row) => `${JSON.stringify(row)}\n`).join(""),
  });
  return [
    get(`/projects/${project}`),
    get(`/projects/${project}?fields=name`),
    { path: `/projects/${project}`, headers: { "if-none-match": "*" } },
    send("HEAD", `/projects/${project}`),
    send("PATCH", `/projects/${project}`, { name: "taken" }),
    send("PUT", `/projects/${project}`, { name: "taken", code: "taken" }),
    { ...send("PATCH", `/projects/${project}`, {}), headers: { "if-match": '"other"' } },
    send("DELETE", `/projects/${project}`),
    get(`/projects/${project}/issues`),
    get(`/projects/${project}/issues?q=hidden`),
    send("POST", `/projects/${project}/issues`, { title: "added" }),
    get(`/projects/${project}/memberships`),
    send("POST", `/projects/${project}/memberships`, { userId: own.bob.id }),
    get(`/memberships/${membership}`),
    send("PATCH", `/memberships/${membership}`, { userId: own.bob.id }),
    send("DELETE", `/memberships/${membership}`),
    get(`/issues/${issue}`),
    send("PATCH", `/issues/${issue}`, { title: "taken" }),
    send("PUT", `/issues/${issue}`, fields),
    send("DELETE", `/issues/${issue}`),
    send("POST", `/issues/${issue}/closings`, {}),
    // References, and moves to another parent.
    send("POST", `/projects/${own.project}/issues`, { title: "refers", originId: project }),
    send("POST", `/projects/${own.project}/issues`, { title: "refers", blockerId: issue }),
    send("PATCH", `/issues/${second}`, { originId: project }),
    send("PATCH", `/issues/${second}`, { blockerId: issue, title: "refers" }),
    send("PUT", `/issues/${second}`, { ...fields, blockerId: issue }),
    send("PATCH", `/issues/${second}`, { projectId: project }),
    send("PATCH", `/memberships/${own.membership}`, { projectId: project }),
    get(`/v1/exports/issues?after=${issue}&sort=title`),
    get(`/v1/exports/projects?after=${project}&sort=name`),
    lines("issues", { projectId: project, title: "added" }),
    lines("issues?atomic=true", { projectId: own.project, title: "refers", blockerId: issue }),
    lines("issues?dryRun=true", { projectId: own.project, title: "refers", originId: project }),
    lines("memberships?readOnly=ignore", { id: membership, projectId: project, userId: own.bob.id }),
    graphql(`{ project(id: "${project}") { id name issuesAsProject { id } } }`),
    graphql(
      `{ a: node(id: "${project}") { id } b: node(id: "${issue}") { id } issue(id: "${issue}") { title } }`,
    ),
    graphql(`{ memberships(projectId: "${project}") { id } }`),
    graphql(
      `{ issuesConnection(projectId: "${project}", filter: { title: "hidden first" }) { edges { node { id } } } }`,
    ),
    mutation(`updateProject(id: "${project}", input: { name: "taken" }) { id name }`),
    mutation(`deleteProject(id: "${project}") { id name }`),
    mutation(`createIssue(input: { projectId: "${project}", title: "added" }) { id project { name } }`),
    mutation(`createMembership(input: { projectId: "${project}", userId: "${own.bob.id}" }) { id }`),
    mutation(`deleteMembership(id: "${membership}") { id }`),
    mutation(`updateIssue(id: "${issue}", input: { title: "taken" }) { id title }`),
    mutation(`deleteIssue(id: "${issue}") { id title }`),
    mutation(`closeIssue(id: "${issue}") { id title }`),
    mutation(
      `createIssue(input: { projectId: "${own.project}", title: "refers", blockerId: "${issue}" }) { id }`,
    ),
    mutation(`updateIssue(id: "${second}", input: { originId: "${project}" }) { id origin { name } }`),
    mutation(
      `a: createIssue(input: { projectId: "${own.project}", title: "undone" }) { id } b: closeIssue(id: "${issue}") { id }`,
    ),
  ];
}

/** Sends a request whose answer may be of any type. @param key null for no credential */
export async function send(
  { url }: Pick<TestServer, "url">,
  { path, method, headers, body }: RowRequest,
  key: string | null,
): Promise<Answer> {
  const response = await fetch(url + path, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parsed(text) };
}

/** A request in the message of a failed assertion. */
export function describe({ method, path, body }: RowRequest): string {
  return `${method ?? ""} ${path} ${JSON.stringify(body) ?? ""}`;
}

/** Whether a request read and wrote nothing. */
export function isRefused({ status, body, text }: Answer): boolean {
  if (status >= 400) return true;
  if (body?.errors && body.created !== undefined) return body.created + body.updated === 0;
  return body?.errors !== undefined || /^\{"data":(\{("\w+":null,?)+\}|null)/.test(text);
}

function parsed(text: string): Answer["body"] {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// The rows of the results: the requests of each, and the minimum that Portico promises for it.

import type { Filled } from "./fill.ts";
import type { FilledTenants } from "./fill-tenants.ts";
import { keyHeader, type Load } from "./load.ts";
import type { FilledMemberships } from "./memberships/fill.ts";
import type { LoadShare } from "./memory.ts";
import { type Client, tokenLoad } from "./oauth.ts";
import { postOf } from "./post.ts";
import { flatQuery, nestedQuery, type Query } from "./queries.ts";
import type { RivalKind } from "./rival-kinds.ts";
import { searchRows } from "./search-rows.ts";

export interface Row {
  readonly name: string;
  readonly load: Load;
  /** Of the limit, in percent. */
  readonly floorPercent?: number;
  /** Of the row `of`, in percent. */
  readonly floorOfRow?: { readonly of: string; readonly percent: number };
  /** Which rivals are measured on this row. */
  readonly rivals?: RivalKind["measures"];
  /** The query of a row with GraphQL. */
  readonly query?: Query;
}

const pageSize = 20;
const deepPage = 2_500;
/** Well-formed, but unknown, as a guessed key. */
const unknownKey = `sk_live_${"-".repeat(43)}`;
const firstPage = `/posts?limit=${pageSize}`;

/**
 * @param deepPath from `findDeepPage`
 * @param token an access token that may read posts
 */
export function readRows({ key, ids }: Filled, deepPath: string, token: string): Row[] {
  const get = (paths: readonly string[]): Load => getLoad(paths, key);
  const byId = get(ids.map((id) => `/posts/${id}`));
  return [
    { name: "post by id", load: byId, floorPercent: 35, rivals: "reads" },
    {
      name: "post by id, access token",
      load: { ...byId, headers: keyHeader(token) },
      floorOfRow: { of: "post by id", percent: 90 },
    },
    { name: "page of 20 newest", load: get([firstPage]), floorPercent: 22, rivals: "reads" },
    {
      name: "page 2,500 by cursor",
      load: get([deepPath]),
      floorOfRow: { of: "page of 20 newest", percent: 90 },
    },
    { name: "filtered page of 20", load: get([`${firstPage}&status=published`]) },
    ...searchRows(get),
    graphqlRow("GraphQL: 20 posts", key, flatQuery),
    graphqlRow("GraphQL: 20 posts, nested", key, nestedQuery),
    {
      name: "401 for an unknown key",
      load: { ...get([`/posts/${ids[0]}`]), status: 401, headers: keyHeader(unknownKey) },
      floorPercent: 50,
    },
  ];
}

function graphqlRow(name: string, key: string, query: Query): Row {
  const headers = { ...keyHeader(key), "Content-Type": "application/json" };
  const body = JSON.stringify({ query: query.portico });
  const load: Load = { status: 200, method: "POST", paths: ["/graphql"], headers, body };
  return { name, load, rivals: "queries", query };
}

/** Pages of rows that everybody sees, and of rows that a policy shows to their members. */
export function policyRows({ memberOfFew, memberOfMany }: FilledMemberships): Row[] {
  const page = (path: string, key: string): Load => getLoad([`${path}?limit=${pageSize}`], key);
  const withoutPolicy = "page of 20 without a policy";
  const floorOfRow = { of: withoutPolicy, percent: 50 };
  return [
    { name: withoutPolicy, load: page("/plans", memberOfFew) },
    { name: "policy, member of 20 of 5,000", load: page("/projects", memberOfFew), floorOfRow },
    { name: "policy, member of 2,500", load: page("/projects", memberOfMany), floorOfRow },
  ];
}

/** Searches for words that every tenant has. */
export function tenantRows({ key }: FilledTenants): Row[] {
  return searchRows((paths) => getLoad(paths, key), ["half of the posts", "three words"]).map((row) => ({
    ...row,
    name: `one tenant of 100, ${row.name.replace("search, ", "")}`,
  }));
}

function getLoad(paths: readonly string[], key: string): Load {
  return { status: 200, method: "GET", paths, headers: keyHeader(key), body: "" };
}

export function createRow({ key }: Pick<Filled, "key">): Row {
  const headers = { ...keyHeader(key), "Content-Type": "application/json" };
  return {
    name: "create",
    load: { status: 201, method: "POST", paths: ["/posts"], headers, body: JSON.stringify(postOf(1)) },
    rivals: "creates",
  };
}

/** Compared with a bare oidc-provider. */
export function tokenRow(client: Client): Row {
  return { name: "token by client_credentials", load: tokenLoad(client), floorPercent: 50 };
}

/** Posts by id and pages in turn, and half of the requests nested queries and creates. */
export function mixedParts({ key, ids }: Filled): LoadShare[] {
  const paths = ids.slice(0, 10_000).flatMap((id) => [`/posts/${id}`, firstPage]);
  return [
    { load: getLoad(paths, key), share: 1 / 2 },
    { load: graphqlRow("nested", key, nestedQuery).load, share: 1 / 4 },
    { load: createRow({ key }).load, share: 1 / 4 },
  ];
}

/** Follows the cursors from page to page as a client does. @returns the path of page 2,500 */
export async function findDeepPage(url: string, key: string): Promise<string> {
  let path = firstPage;
  for (let page = 1; page < deepPage; page += 1) {
    const response = await fetch(url + path, {
      headers: keyHeader(key),
      signal: AbortSignal.timeout(10_000),
    });
    const { pagination } = (await response.json()) as { pagination?: { nextCursor: string | null } };
    if (!pagination?.nextCursor)
      throw new Error(`page ${page} answered ${response.status} and has no next page`);
    path = `${firstPage}&cursor=${pagination.nextCursor}`;
  }
  return path;
}

// Rows of the fixture `organisation`: Bob, a member, sees one of two projects. Every text of what he must not see contains
// the word `hidden`, so that any response can be searched for it.

import { resolve } from "node:path";
import { makeKey } from "../../support/keys.ts";
import { makeUser, type User } from "../../support/oauth.ts";
import type { TestServer } from "../../support/scenario.ts";

export const cwd = resolve(import.meta.dirname, "../../fixtures/organisation");

export interface Rows {
  readonly tenantId: string;
  readonly ada: string;
  readonly bob: User & { readonly key: string };
  /** The project that Bob sees, his membership and two issues in it. */
  readonly project: string;
  readonly membership: string;
  readonly issues: readonly [string, string];
  readonly hidden: {
    readonly project: string;
    readonly membership: string;
    /** Issues in the hidden project. */
    readonly issues: readonly [string, string];
    /** An issue in the visible project. */
    readonly secret: string;
  };
}

/** Creates the rows with the key of Ada, an owner. */
export async function createRows(server: TestServer): Promise<Rows> {
  const { tenant, user } = (await server.request("/v1/me")).body;
  const bob = await makeUser(server, "bob@example.com");
  const { key } = await makeKey(server, { ownerId: bob.id, scopes: ["*"] });
  const create = async (path: string, values: object): Promise<string> =>
    (await server.create(path, values)).id;
  const project = await create("/projects", { name: "open plans", code: "open-code", rank: 1 });
  const hidden = await create("/projects", { name: "hidden plans", code: "hidden-code", rank: 2 });
  const issue = (of: string, title: string, more: object = {}): Promise<string> =>
    create(`/projects/${of}/issues`, { title, ...more });
  const second = await issue(project, "visible second");
  const first = await issue(hidden, "hidden first");
  const other = await issue(hidden, "hidden second", { blockerId: second });
  return {
    tenantId: tenant.id,
    ada: user.id,
    bob: { ...bob, key },
    project,
    membership: await create(`/projects/${project}/memberships`, { userId: bob.id }),
    issues: [await issue(project, "visible first", { blockerId: other, originId: hidden }), second],
    hidden: {
      project: hidden,
      membership: await create(`/projects/${hidden}/memberships`, { userId: user.id }),
      issues: [first, other],
      secret: await issue(project, "hidden secret", { status: "secret", blockerId: first }),
    },
  };
}

// Rows of the fixture `tree`, in every combination of two owners, and which of them each owner can see.

import { resolve } from "node:path";
import { firstTenant } from "../../support/keys.ts";
import type { TestServer } from "../../support/scenario.ts";

export const cwd = resolve(import.meta.dirname, "../../fixtures/tree");

export interface Tree {
  readonly title: string;
  /** Names of its resources, from the top down. */
  readonly levels: readonly [string, string, string];
  /** The levels with a policy of their own, by which rows are visible to their owner. */
  readonly restricted: readonly number[];
  /** The first level without a policy on any of its parents; no other level is without one. */
  readonly freeFrom: number;
}

export const trees: readonly Tree[] = [
  { title: "a policy at the top", levels: ["project", "note", "remark"], restricted: [0], freeFrom: 3 },
  {
    title: "a policy on each level",
    levels: ["account", "folder", "file"],
    restricted: [0, 1, 2],
    freeFrom: 3,
  },
  {
    title: "a policy that is not inherited",
    levels: ["desk", "drawer", "pen"],
    restricted: [0],
    freeFrom: 1,
  },
];

export interface User {
  readonly id: string;
  readonly key: string;
}

export interface Row {
  readonly tree: Tree;
  readonly depth: number;
  readonly resource: string;
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  readonly parent: Row | undefined;
}

export interface TreeRows {
  readonly tenantId: string;
  readonly ann: User;
  readonly bob: User;
  readonly rows: readonly Row[];
}

/** Two users with keys of their own, and rows of each, created with the first key, which can see everything. */
export async function createRows(server: TestServer): Promise<TreeRows> {
  const tenantId = await firstTenant(server.workspace);
  const [ann, bob] = [await makeUser(server, "ann"), await makeUser(server, "bob")];
  const rows: Row[] = [];
  for (const tree of trees) {
    let parents: readonly (Row | undefined)[] = [undefined];
    for (const [depth, resource] of tree.levels.entries()) {
      const positions = parents.map((parent) => ({ tree, depth, resource, parent }));
      parents = await Promise.all(
        positions.flatMap((position) => [ann, bob].map((owner) => makeRow(server, position, owner))),
      );
      rows.push(...(parents as Row[]));
    }
  }
  return { tenantId, ann, bob, rows };
}

async function makeUser(server: TestServer, name: string): Promise<User> {
  const { id } = await server.create("/users", { name, email: `${name}@example.com` });
  const resources = [...trees.flatMap(({ levels }) => levels), "tag", "user"];
  const scopes = resources.flatMap((each) => [`${each}s:read`, `${each}s:write`]);
  const { key } = await server.create("/v1/api-keys", { name, scopes, ownerId: id });
  return { id, key };
}

type Position = Pick<Row, "tree" | "depth" | "resource" | "parent">;

/** Creates a row of an owner under a parent. */
export async function makeRow(server: TestServer, position: Position, owner: User): Promise<Row> {
  const name = `${position.resource} word${serial++}`;
  const { id } = await server.create(collectionOf(position), { name, ownerId: owner.id });
  return { ...position, id, name, ownerId: owner.id };
}

let serial = 1;

/** `/notes/{id}/remarks`, or `/projects` at the top. */
export function collectionOf({ resource, parent }: Pick<Row, "resource" | "parent">): string {
  return parent ? `/${parent.resource}s/${parent.id}/${resource}s` : `/${resource}s`;
}

export function itemOf({ resource, id }: Pick<Row, "resource" | "id">): string {
  return `/${resource}s/${id}`;
}

export function isVisible(row: Row, user: User): boolean {
  const { tree, depth, ownerId, parent } = row;
  if (tree.restricted.includes(depth) && ownerId !== user.id) return false;
  return parent === undefined || depth === tree.freeFrom || isVisible(parent, user);
}

/** An id of the same kind that does not exist. */
export function unknown(id: string): string {
  return id.replace(/[^_]+$/, "0".repeat(26));
}

// Creates a row of every exposed resource for a tenant, with bodies derived from the declarations.

import config from "../../../../../portico.config.ts";
import { declareApiKeys } from "../../../src/auth/api-keys/resource.ts";
import { users } from "../../../src/auth/users/resource.ts";
import { buildModel } from "../../../src/model/build-model.ts";
import type { Attribute, Model, ResourceModel } from "../../../src/model/model.ts";
import type { TestServer } from "../../support/scenario.ts";

const silent = { created: async () => {}, rotated: async () => {}, revoked: async () => {} };
const apiKeys = declareApiKeys({
  environment: "test",
  expiringSoonDays: 7,
  standardQuota: { limit: 1000, windowSeconds: 60 },
  notices: silent,
});

/** The service of this repository. */
export const model: Model = buildModel(config, [users, apiKeys]);

/** Referenced resources come first. */
export const resources: readonly ResourceModel[] = parentsFirst(
  model.resources.filter((each) => each.isExposed),
);

function parentsFirst(all: readonly ResourceModel[]): ResourceModel[] {
  const ordered = new Set<ResourceModel>();
  const visit = (resource: ResourceModel): void => {
    for (const { reference } of resource.references)
      if (reference!.target !== resource) visit(reference!.target);
    ordered.add(resource);
  };
  for (const resource of all) visit(resource);
  return [...ordered];
}

/** Resource name -> the id of the tenant's row. */
export type RowIds = ReadonlyMap<string, string>;

/** Values that the schemas do not define. */
const more: Readonly<Record<string, object>> = { apiKey: { scopes: [] } };

/** A body that a tenant may send, with references to its own rows. */
export function bodyOf(resource: ResourceModel, own: RowIds, word: string): Record<string, unknown> {
  const required = resource.attributes.filter(
    ({ isReadOnly, isNullable, field }) => !isReadOnly && !isNullable && !("default" in field.options),
  );
  const values = required.map((attribute) => [attribute.name, exampleOf(attribute, own, word)]);
  return { ...Object.fromEntries(values), ...more[resource.name] };
}

function exampleOf({ field, reference, name }: Attribute, own: RowIds, word: string): unknown {
  if (reference) return own.get(reference.target.name);
  if (field.kind === "text") return field.options.format === "email" ? `${word}@example.com` : word;
  if (field.kind === "choice") return field.choices[0];
  throw new Error(`the test has no value for ${name}; add one`);
}

/** `/v1/posts`; for a resource with a parent, `/v1/posts/{id}/comments`. */
export function collectionOf({ version, segment, parent }: ResourceModel, ids: RowIds): string {
  if (!parent) return `/${version}/${segment}`;
  const { target } = parent.reference!;
  return `/${version}/${target.segment}/${ids.get(target.name)}/${segment}`;
}

export function itemOf({ version, segment, name }: ResourceModel, ids: RowIds): string {
  return `/${version}/${segment}/${ids.get(name)}`;
}

/** Creates a row of every resource with the tenant's key. */
export async function createAll(server: TestServer, key: string, word: string): Promise<RowIds> {
  const ids = new Map<string, string>();
  for (const resource of resources) {
    const body = bodyOf(resource, ids, word);
    ids.set(resource.name, (await server.create(collectionOf(resource, ids), body, { key })).id);
  }
  return ids;
}

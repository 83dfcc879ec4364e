// Finds the resource of an id by its prefix.

import type { ResourceModel } from "../../model/model.ts";

/** The resource that an id belongs to, if its rows can be read by id. */
export function resourceOfId(resources: Iterable<ResourceModel>, id: string): ResourceModel | undefined {
  const prefix = id.slice(0, Math.max(0, id.lastIndexOf("_")));
  for (const resource of resources)
    if (resource.idPrefix === prefix && resource.operations.has("get")) return resource;
  return undefined;
}

import type { App } from "../declare/app.ts";
import type { Model, ResourceModel } from "../model/model.ts";

/**
 * The resources whose rows can be imported: those of the app that callers may create, by their segments. The server's own
 * are created one by one, because creating them sends an email or returns a secret.
 */
export function importableResources(
  { resource }: Pick<Model, "resource">,
  { resources }: Pick<App, "resources">,
): ReadonlyMap<string, ResourceModel> {
  const importable = resources
    .map(({ name }) => resource.get(name)!)
    .filter(({ isExposed, operations }) => isExposed && operations.has("create"));
  return new Map(importable.map((each) => [each.segment, each]));
}

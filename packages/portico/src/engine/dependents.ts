// Which rows a deletion affects: the dependents of a row, and the rows that meet conditions.

import type { Attribute, Model, ResourceModel } from "../model/model.ts";
import { defaultSort } from "../model/model.ts";
import type { Condition, Position } from "../query/read.ts";
import { select } from "../query/selection.ts";
import type { Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";

const batchSize = 100;

/** The references to a resource with `onDelete: "cascade"`, with the resources that have them. */
export function dependentsOf(model: Model, resource: ResourceModel): [ResourceModel, Attribute][] {
  return model.resources.flatMap((each) =>
    each.references
      .filter(({ field, reference }) => {
        const cascades = field.kind === "belongsTo" && field.options.onDelete === "cascade";
        return cascades && reference!.target === resource;
      })
      .map((attribute): [ResourceModel, Attribute] => [each, attribute]),
  );
}

/** The ids of all rows that meet the conditions, oldest first. The rows may be deleted during the iteration. */
export async function* rowIds(
  store: Store,
  session: Session,
  tenantId: string,
  resource: ResourceModel,
  conditions: readonly Condition[],
): AsyncGenerator<string> {
  const sort = { attribute: resource.sorts.get(defaultSort)!, isDescending: false };
  const selection = select([resource.attribute.get("id")!]);
  let position: Position | undefined;
  for (;;) {
    const page = { style: "cursor", limit: batchSize, position, isBackward: false } as const;
    const read = { resource, selection, conditions, words: [], sort, page };
    const result = await store.list(tenantId, read, session);
    for (const { id } of JSON.parse(result.rows) as { id: string }[]) yield id;
    if (!result.hasMore) return;
    position = result.last;
  }
}

// Which rows a deletion affects: the dependents of a row, and the rows that meet conditions.

import type { Attribute, Model, ResourceModel } from "../model/model.ts";
import { defaultSort } from "../model/model.ts";
import type { Condition, Position } from "../query/read.ts";
import { select } from "../query/selection.ts";
import type { Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";

const batchSize = 100;

interface RowsToList {
  readonly resource: ResourceModel;
  readonly conditions: readonly Condition[];
  readonly isNewestFirst?: boolean;
}

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

/**
 * The resources whose parent is a resource. Those that refer to others are first, so that no reference prevents a
 * deletion in this order.
 */
export function childrenOf(model: Model, resource: ResourceModel): readonly ResourceModel[] {
  const children = model.resources.filter(({ parent }) => parent?.reference?.target === resource);
  if (children.length < 2) return children;
  const referredFirst = new Set<ResourceModel>();
  const visit = (each: ResourceModel, path: ReadonlySet<ResourceModel>): void => {
    if (path.has(each)) return;
    for (const { reference } of each.references) visit(reference!.target, new Set([...path, each]));
    referredFirst.add(each);
  };
  for (const each of children) visit(each, new Set());
  return [...referredFirst].filter((each) => children.includes(each)).reverse();
}

/** The ids of all rows that meet the conditions, oldest first. The rows may be deleted during the iteration. */
export async function* rowIds(
  store: Store,
  session: Session,
  tenantId: string,
  resource: ResourceModel,
  conditions: readonly Condition[],
): AsyncGenerator<string> {
  for await (const ids of batchesOfIds(store, session, tenantId, { resource, conditions })) yield* ids;
}

/** The ids of all rows that meet the conditions, in batches. The rows may be deleted during the iteration. */
export async function* batchesOfIds(
  store: Store,
  session: Session,
  tenantId: string,
  { resource, conditions, isNewestFirst = false }: RowsToList,
): AsyncGenerator<readonly string[]> {
  const sort = { attribute: resource.sorts.get(defaultSort)!, isDescending: isNewestFirst };
  const selection = select([resource.attribute.get("id")!]);
  let position: Position | undefined;
  for (;;) {
    const page = { style: "cursor", limit: batchSize, position, isBackward: false } as const;
    const read = { resource, selection, conditions, words: [], sort, page };
    const result = await store.list(tenantId, read, session);
    yield (JSON.parse(result.rows) as { id: string }[]).map(({ id }) => id);
    if (!result.hasMore) return;
    position = result.last;
  }
}

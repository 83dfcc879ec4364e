// The ids of rows that meet conditions, for deletions of many rows.

import type { ResourceModel } from "../model/model.ts";
import { defaultSort } from "../model/model.ts";
import type { Condition } from "../query/condition.ts";
import type { Position } from "../query/read.ts";
import { select } from "../query/selection.ts";
import { singleSort } from "../query/sort.ts";
import type { Session } from "../store/database.ts";
import type { Store } from "../store/store.ts";

const batchSize = 100;

interface RowsToList {
  readonly resource: ResourceModel;
  readonly conditions: readonly Condition[];
  readonly isNewestFirst?: boolean;
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
  const sort = singleSort(resource, `${isNewestFirst ? "-" : ""}${defaultSort}`)!;
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

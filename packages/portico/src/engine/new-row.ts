// A row that is about to be written.

import { newId } from "../lib/id.ts";
import type { ResourceModel } from "../model/model.ts";
import type { RowValues } from "../query/write.ts";

/** A new row: its values and those that the server sets. */
export function newRow(
  { parent, idPrefix }: ResourceModel,
  values: RowValues,
  now: string,
  parentId: string | undefined,
): RowValues & { readonly id: string } {
  return {
    ...values,
    ...(parent && { [parent.name]: parentId }),
    id: newId(idPrefix),
    createdAt: now,
    updatedAt: now,
  };
}

// How hooks read and write other rows in their own transaction.

import type { StoredRecordOf } from "../declare/record.ts";
import type { Resource } from "../declare/resource.ts";
import type { Rows } from "../declare/rows.ts";
import { codeFailure } from "../model/explained-failures.ts";
import type { Model, ResourceModel } from "../model/model.ts";
import { awaitedRows, type TrackResult } from "./awaited-rows.ts";
import type { RowOperations } from "./row-operations.ts";

/**
 * The operations of hooks and actions: by declaration, with rows as objects.
 * @param unrestricted the same operations without policies, if policies apply to `rows`
 * @param track passes on the result of each operation
 */
export function hookRows(
  model: Model,
  unrestricted: (() => Rows) | undefined,
  rows: RowOperations,
  track: TrackResult,
): Rows {
  const modelOf = ({ name }: Resource): ResourceModel => {
    const resource = model.resource.get(name);
    if (resource) return resource;
    throw codeFailure(model, `a hook uses the resource ${name}, which the app does not list`);
  };
  // The types of rows follow from the declarations that the model is built from.
  const typed = <R extends Resource>(row: unknown): StoredRecordOf<R> => row as StoredRecordOf<R>;
  const operations: Rows = {
    get unrestricted(): Rows {
      return unrestricted?.() ?? awaited;
    },
    get: async (resource, id) => typed<typeof resource>(await rows.get(modelOf(resource), id)),
    list: async (resource, where, options = {}) =>
      (await rows.list(modelOf(resource), where, options)).map((row) => typed<typeof resource>(row)),
    count: async (resource, where) => rows.count(modelOf(resource), where),
    first: async (resource, where, options = {}) =>
      typed<typeof resource>(await rows.first(modelOf(resource), where, options)),
    create: async (resource, input) => {
      const target = modelOf(resource);
      const { [target.parent?.name ?? ""]: parentId, ...body } = input as Record<string, unknown>;
      const { row, returnedOnce } = await rows.create(target, body, parentId as string | undefined);
      return typed<typeof resource>(Object.assign(row, returnedOnce));
    },
    update: async (resource, id, changes) =>
      typed<typeof resource>((await rows.update(modelOf(resource), id, changes)).row),
    updateMany: async (resource, where, changes) => ({
      count: await rows.updateMany(modelOf(resource), where, changes),
    }),
    delete: async (resource, id) => rows.delete(modelOf(resource), id),
    deleteMany: async (resource, where) => ({ count: await rows.deleteMany(modelOf(resource), where) }),
  };
  const awaited = awaitedRows(operations, track);
  return awaited;
}

// How hooks read and write other rows in their own transaction.

import type { RecordOf } from "../declare/record.ts";
import type { Resource, Rows } from "../declare/resource.ts";
import { explainedFailure } from "../model/explained-failures.ts";
import type { Model, ResourceModel } from "../model/model.ts";
import type { WriteResult } from "./write-result.ts";

/** The operations of the engine inside a transaction, by model. */
interface RowOperations {
  get(resource: ResourceModel, id: string): Promise<string | undefined>;
  create(resource: ResourceModel, body: unknown, parentId: string | undefined): Promise<WriteResult>;
  update(resource: ResourceModel, id: string, body: unknown): Promise<WriteResult>;
  delete(resource: ResourceModel, id: string): Promise<void>;
}

/**
 * The operations of hooks and actions: by declaration, with rows as objects.
 * @param unrestricted the same operations without policies, if policies apply to `rows`
 */
export function hookRows(model: Model, unrestricted: (() => Rows) | undefined, rows: RowOperations): Rows {
  const modelOf = ({ name }: Resource): ResourceModel => {
    const resource = model.resource.get(name);
    if (resource) return resource;
    const failure = new Error(`a hook uses the resource ${name}, which the app does not list`);
    throw model.explainsFailures ? explainedFailure(failure.message, failure) : failure;
  };
  // The types of rows follow from the declarations that the model is built from.
  const operations: Rows = {
    get unrestricted(): Rows {
      return unrestricted?.() ?? operations;
    },
    get: async (resource, id) => {
      const text = await rows.get(modelOf(resource), id);
      return text === undefined ? undefined : JSON.parse(text);
    },
    create: async (resource, input) => {
      const target = modelOf(resource);
      const { [target.parent?.name ?? ""]: parentId, ...body } = input as Record<string, unknown>;
      const { row, returnedOnce } = await rows.create(target, body, parentId as string | undefined);
      return { ...row, ...returnedOnce } as RecordOf<typeof resource>;
    },
    update: async (resource, id, changes) => {
      const { row } = await rows.update(modelOf(resource), id, changes);
      return row as RecordOf<typeof resource>;
    },
    delete: (resource, id) => rows.delete(modelOf(resource), id),
  };
  return operations;
}

// What hooks use to read and write other rows in their own transaction.

import type { Resource, Rows } from "../declare/resource.ts";
import { explainedFailure } from "../model/explained-failures.ts";
import type { Model, ResourceModel } from "../model/model.ts";
import type { WriteResult } from "./write-transaction.ts";

/** The operations of the engine inside a transaction, with rows as JSON text. */
interface RowOperations {
  get(resource: ResourceModel, id: string): Promise<string | undefined>;
  create(resource: ResourceModel, body: unknown, parentId: string | undefined): Promise<WriteResult>;
  update(resource: ResourceModel, id: string, body: unknown): Promise<string>;
  delete(resource: ResourceModel, id: string): Promise<void>;
}

/** `Rows` as hooks see them: by declaration, with parsed rows. */
export function hookRows(model: Model, rows: RowOperations): Rows {
  const modelOf = ({ name }: Resource): ResourceModel => {
    const resource = model.resource.get(name);
    if (resource) return resource;
    const fault = new Error(`a hook asks for the resource ${name}, which the app does not list`);
    throw model.explainsFailures ? explainedFailure(fault.message, fault) : fault;
  };
  // The types of rows follow from the declarations that the model was made from.
  return {
    get: async (resource, id) => {
      const text = await rows.get(modelOf(resource), id);
      return text === undefined ? undefined : JSON.parse(text);
    },
    create: async (resource, input) => {
      const target = modelOf(resource);
      const { [target.parent?.name ?? ""]: parentId, ...body } = input as Record<string, unknown>;
      const { text, returnedOnce } = await rows.create(target, body, parentId as string | undefined);
      return { ...JSON.parse(text), ...returnedOnce };
    },
    update: async (resource, id, changes) => JSON.parse(await rows.update(modelOf(resource), id, changes)),
    delete: (resource, id) => rows.delete(modelOf(resource), id),
  };
}

// The write that a method and a path stand for, to explain who may do it.

import { OperatorError } from "../errors.ts";
import type { Model, ResourceModel, WriteOperation } from "../model/model.ts";
import type { OperationKind } from "../model/operations.ts";

export interface ExplainedWrite {
  readonly resource: ResourceModel;
  readonly operation: WriteOperation;
  /** The row that is written; undefined for a new row. */
  readonly id: string | undefined;
  /** The row of the parent resource in whose collection a row is created. */
  readonly parentId: string | undefined;
}

const operations: Readonly<Partial<Record<OperationKind, WriteOperation>>> = {
  create: "create",
  replace: "update",
  update: "update",
  action: "update",
  delete: "delete",
};

/** @throws OperatorError if the API has no such operation on rows */
export function writeOf(model: Model, method: string, path: string): ExplainedWrite {
  const [target = ""] = path.split("?", 1);
  const older = model.olderVersions.flatMap((version) => version.operations);
  for (const operation of [...model.operations, ...older]) {
    if (operation.kind === "module" || operation.method !== method) continue;
    const writes = operations[operation.kind];
    if (writes === undefined) continue;
    for (const prefix of operation.prefixes) {
      const pattern = new RegExp(`^${prefix}${operation.path.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
      const found = pattern.exec(target);
      if (!found) continue;
      const { id, parentId } = found.groups ?? {};
      const { current = operation.resource } = operation.resource;
      return { resource: current, operation: writes, id, parentId };
    }
  }
  throw new OperatorError(`the API has no ${method} of a row at ${path}`);
}

// The descriptions of tools, for assistants.

import { spaceCase } from "../lib/case.ts";
import type { ResourceModel } from "../model/model.ts";
import type { ModuleOperation, Operation, OperationKind } from "../model/operations.ts";
import { summaryOf } from "../openapi/descriptions.ts";
import { maxResultKib } from "./result-size.ts";

/** Hints for clients, which may ask a person before a tool writes. */
export interface Annotations {
  readonly title: string;
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  /** Whether it has effects outside of the API. */
  readonly openWorldHint: boolean;
}

export function annotationsOf(operation: Operation | ModuleOperation): Annotations {
  const { method, kind } = operation;
  const isReading = method === "GET";
  return {
    title: summaryOf(operation),
    readOnlyHint: isReading,
    // An action or a route may do anything.
    destructiveHint: !isReading && kind !== "create",
    idempotentHint: isReading || method === "PUT" || method === "DELETE",
    openWorldHint: kind === "module" && !isReading,
  };
}

export function describe(operation: Operation | ModuleOperation): string {
  return partsOf(operation)
    .map((part) => part.trim())
    .filter(Boolean)
    .join(" ");
}

function partsOf(operation: Operation | ModuleOperation): readonly string[] {
  const { kind } = operation;
  const summary = `${summaryOf(operation)}.`;
  if (kind === "module") {
    return [summary, operation.description ?? "", deprecation(operation)];
  }
  const { resource } = operation;
  const own = kind === "action" || kind === "collectionAction" ? "" : (resource.description ?? "");
  const hint = kind === "list" ? `An answer has at most ${maxResultKib} KiB.` : "";
  return [summary, explanations[kind](resource), own, deprecation(operation), hint];
}

/** What follows the summary of an operation. */
const explanations: Readonly<Record<OperationKind, (resource: ResourceModel) => string>> = {
  list: ({ paging }) =>
    paging === "page"
      ? "Newest first unless `sort` says otherwise. If `pagination.hasMore` is true, ask for the next `page`."
      : "Newest first unless `sort` says otherwise. If `pagination.hasMore` is true, pass `pagination.nextCursor` as `cursor` for the next page.",
  get: () => "",
  create: () => "The answer is the new row.",
  replace: () => "Members that are left out get their default values, or none.",
  update: () => "Only the given members change; null removes a value. The answer is the row.",
  delete: deletionOf,
  deleteAll: deletionOf,
  action: () => "The answer is the row.",
  collectionAction: () => "",
  report: () => "",
};

function deletionOf({ isSoftDeleted, markOnDelete, children }: ResourceModel): string {
  if (isSoftDeleted) return "It can be restored.";
  if (markOnDelete) return `It stays visible, with \`${markOnDelete.name}\`.`;
  const lost = children.map((child) => spaceCase(child.plural)).join(", ");
  return lost === "" ? "It cannot be restored." : `Its ${lost} are deleted with it. It cannot be restored.`;
}

function deprecation({ deprecated }: Pick<ModuleOperation, "deprecated">): string {
  if (!deprecated) return "";
  const end = deprecated.sunset === undefined ? "" : `, and will be removed on ${deprecated.sunset}`;
  return `Deprecated since ${deprecated.since}${end}.`;
}

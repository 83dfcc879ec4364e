// Turns the path and the query of `POST /v1/imports/{collection}` into a request for an import.

import { InvalidInput } from "../engine/validation/invalid-input.ts";
import { repeatedParameter, unknownParameter } from "../engine/validation/messages.ts";
import type { InputError } from "../errors.ts";
import type { Attribute, ResourceModel } from "../model/model.ts";
import type { Query } from "../query/query-string.ts";
import { importParameters } from "./operations.ts";

/** How the lines of an import are written. */
export interface ImportRequest {
  /** As the version of the request names its fields, like the lines. */
  readonly resource: ResourceModel;
  /** The unique field by which rows are found that are updated instead of created; undefined to create only. */
  readonly by: Attribute | undefined;
  /** Whether nothing is written if a line is refused. */
  readonly isAtomic: boolean;
  /** Whether nothing is written at all. */
  readonly isDryRun: boolean;
  readonly sendsProgress: boolean;
  /** Whether fields that callers cannot set are ignored instead of refused. */
  readonly ignoresReadOnly: boolean;
}

const known = new Set(importParameters.map(({ name }) => name));

/** @throws InvalidInput with every error in the query */
export function parseImport(resource: ResourceModel, query: Query): ImportRequest {
  const errors: InputError[] = [];
  for (const [name, values] of query) {
    if (!known.has(name)) errors.push(unknownParameter(name));
    else if (values.length > 1) errors.push(repeatedParameter(name));
  }
  const choice = (name: string, choices: readonly string[]): string => {
    const value = query.get(name)?.[0] ?? choices[0]!;
    if (!choices.includes(value))
      errors.push({ field: name, issue: "choice", text: `must be one of ${choices.join(", ")}` });
    return value;
  };
  const flag = (name: string): boolean => choice(name, ["false", "true"]) === "true";
  const isUpsert = choice("mode", ["create", "upsert"]) === "upsert";
  const by = query.get("by")?.[0];
  if (isUpsert && !resource.operations.has("update"))
    errors.push({ field: "mode", issue: "choice", message: `Rows of ${resource.plural} cannot be updated.` });
  if (isUpsert) errors.push(...errorsOfBy(resource, by));
  else if (by !== undefined)
    errors.push({ field: "by", issue: "unknown", message: "`by` is only for mode=upsert." });
  const request = {
    resource,
    by: isUpsert && by !== undefined ? resource.attribute.get(by) : undefined,
    isAtomic: flag("atomic"),
    isDryRun: flag("dryRun"),
    sendsProgress: flag("progress"),
    ignoresReadOnly: choice("readOnly", ["refuse", "ignore"]) === "ignore",
  };
  if (errors.length > 0) throw new InvalidInput(errors);
  return request;
}

function errorsOfBy(resource: ResourceModel, by: string | undefined): InputError[] {
  if (by === undefined) return [{ field: "by", issue: "required", text: "is required for mode=upsert" }];
  const fields = resource.attributes.filter((each) => isUpsertKey(resource, each)).map(({ name }) => name);
  if (fields.includes(by)) return [];
  const message =
    fields.length > 0
      ? `\`by\` must be one of ${fields.join(", ")}.`
      : `${resource.plural} have no unique field that callers set, so that mode=upsert is not possible.`;
  return [{ field: "by", issue: "choice", message }];
}

/** Whether rows can be found by the value that a line has for an attribute. */
function isUpsertKey({ indexes }: ResourceModel, attribute: Attribute): boolean {
  const { field, isReadOnly, isInternal, current } = attribute;
  const isUnique = indexes.some(
    ({ unique, columns }) =>
      unique && columns.length === 1 && columns[0]!.attribute === (current ?? attribute),
  );
  const isComparable = ["text", "integer", "decimal", "date", "choice", "belongsTo"].includes(field.kind);
  return isUnique && isComparable && !isReadOnly && !isInternal;
}

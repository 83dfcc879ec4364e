// The summary and the description of each operation.

import { capitalize, spaceCase } from "../lib/case.ts";
import type { ModuleOperation, Operation } from "../model/operations.ts";
import { pluralWords, singularWords, withArticle } from "./names.ts";

/** One line without a full stop: `List posts` */
export function summaryOf(operation: Operation | ModuleOperation): string {
  if (operation.summary !== undefined) return operation.summary;
  if (operation.kind === "module") return capitalize(spaceCase(operation.id));
  const { kind, resource, action, collectionAction } = operation;
  const one = withArticle(singularWords(resource));
  const several = pluralWords(resource);
  switch (kind) {
    case "list":
      return operation.container === undefined
        ? `List ${several}`
        : `List the ${several}${within(operation)}`;
    case "get":
      return `Get ${one}`;
    case "create":
      return `Create ${one}`;
    case "replace":
      return `Replace ${one}`;
    case "update":
      return `Update ${one}`;
    case "delete":
      return `Delete ${one}`;
    case "deleteAll":
      return `Delete the ${several}${within(operation)}`;
    case "action":
      return actionSummary(action!, one);
    case "collectionAction":
      return actionSummary(collectionAction!, `${several}${within(operation)}`);
    case "report":
      return capitalize(spaceCase(operation.id));
  }
}

function actionSummary(
  { name, verb }: { readonly name: string; readonly verb: string | undefined },
  of: string,
) {
  return verb === undefined
    ? `Create ${name.replaceAll("-", " ")} for ${of}`
    : `${capitalize(spaceCase(verb))} ${of}`;
}

/** ` of a post`, for a nested collection */
function within({ container }: Pick<Operation, "container">): string {
  if (container === undefined) return "";
  if (container === "tenant") return " of a tenant";
  const { name, target } = container.reference!;
  return ` of ${withArticle(name === target.name ? singularWords(target) : spaceCase(name))}`;
}

/** What it does, and what it requires. In Markdown. */
export function descriptionOf(operation: Operation | ModuleOperation): string {
  const { scope, isPublic } = operation;
  const needed = scope === undefined ? "" : ` Requires the scope \`${scope}\``;
  const access = isPublic
    ? scope === undefined
      ? " It needs no credential."
      : `${needed}, unless what it reads is public.`
    : needed && `${needed}.`;
  return `${effectOf(operation)}${access}`;
}

function effectOf(operation: Operation | ModuleOperation): string {
  if (operation.kind === "module") return operation.description ?? `${summaryOf(operation)}.`;
  const { kind, resource } = operation;
  const one = withArticle(singularWords(resource));
  const several = pluralWords(resource);
  switch (kind) {
    case "list":
      return `Returns a page of the ${several}${within(operation)} that the caller sees, the newest first unless \`sort\` says otherwise.`;
    case "get":
      return `Returns ${one} that the caller sees. With \`If-None-Match\` it is sent only if it has changed.`;
    case "create":
      return `Creates ${one} and returns it.`;
    case "replace":
      return `Replaces ${one}. Fields that the body leaves out are set to their defaults.`;
    case "update":
      return `Changes the fields of ${one} that the body names (RFC 7396). Null removes the value of an optional field.`;
    case "delete":
      return effectOfDelete(operation);
    case "deleteAll":
      return `Deletes all ${several}${within(operation)} that the caller sees.`;
    default:
      return `${summaryOf(operation)}.`;
  }
}

function effectOfDelete({ resource }: Operation): string {
  const one = withArticle(singularWords(resource));
  const { markOnDelete, isSoftDeleted, children } = resource;
  if (markOnDelete) return `Sets \`${markOnDelete.name}\` of ${one}, and keeps it.`;
  const along = children.length === 0 ? "" : `, with its ${children.map(pluralWords).join(", ")}`;
  return isSoftDeleted ? `Deletes ${one}${along}. It can be restored.` : `Deletes ${one}${along}.`;
}

// How the names of a model are written in a schema.

import type { Attribute, Model, ResourceModel } from "../declare/model.ts";
import { snakeCase } from "../declare/naming.ts";

/** `apiKey` -> `ApiKey` */
export function pascalCase(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

/** `createdAt` -> `CREATED_AT` */
export function upperCase(name: string): string {
  return snakeCase(name).toUpperCase();
}

/** Whether a word can be a value of an enumeration (GraphQL, section 2.9.6). */
export function isEnumValue(word: string): boolean {
  return /^[_A-Za-z]\w*$/.test(word) && !word.startsWith("__") && !["true", "false", "null"].includes(word);
}

/** How many rows a list without a limit has. */
export const plainLimit = 10;

export interface BackwardList {
  readonly name: string;
  readonly resource: ResourceModel;
  readonly reference: Attribute;
}

/**
 * The lists of rows whose references lead to a row: `User.posts`. Only along the parent and declared filters, because
 * those have indexes. A resource that refers twice is told apart: `messagesAsSender`, `messagesAsReader`.
 */
export function backwardLists(model: Model, target: ResourceModel): BackwardList[] {
  const taken = new Set(
    target.attributes.flatMap(({ name, reference }) => [name, ...(reference ? [reference.name] : [])]),
  );
  return model.resources
    .filter(({ isServed }) => isServed)
    .flatMap((resource) => {
      const references = resource.references.filter(
        (each) =>
          each.reference!.target === target &&
          !each.isInternal &&
          (each === resource.parent || resource.filters.has(each.name)),
      );
      return references.map((reference): BackwardList => {
        const isPlain = references.length === 1 && !taken.has(resource.plural);
        const name = isPlain
          ? resource.plural
          : `${resource.plural}As${pascalCase(reference.reference!.name)}`;
        return { name, resource, reference };
      });
    })
    .filter(({ name }) => !taken.has(name));
}

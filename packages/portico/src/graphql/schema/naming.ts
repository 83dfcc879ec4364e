// How the names of a model are written in a schema.

import { snakeCase } from "../../lib/case.ts";
import type { Attribute, Model, ResourceModel } from "../../model/model.ts";

/** `apiKey` -> `ApiKey`, `oauthClient` -> `OAuthClient` */
export function pascalCase(name: string): string {
  return name.replace(/^oauth(?![a-z])/, "OAuth").replace(/^./, (letter) => letter.toUpperCase());
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
export const defaultListLimit = 10;

export interface InverseList {
  readonly name: string;
  readonly resource: ResourceModel;
  readonly reference: Attribute;
}

/**
 * The lists of rows whose references lead to a row: `User.posts`; each reference has an index for its list. A resource
 * that refers twice is told apart: `lettersAsSender`, `lettersAsReader`.
 */
export function inverseLists(model: Model, target: ResourceModel): InverseList[] {
  const taken = new Set(
    target.attributes.flatMap(({ name, reference }) => [name, ...(reference ? [reference.name] : [])]),
  );
  return model.resources
    .filter(({ isExposed, operations }) => isExposed && operations.has("list"))
    .flatMap((resource) => {
      const references = resource.references.filter(
        (each) => each.reference!.target === target && !each.isInternal,
      );
      return references.map((reference): InverseList => {
        const isPlain = references.length === 1 && !taken.has(resource.plural);
        const name = isPlain
          ? resource.plural
          : `${resource.plural}As${pascalCase(reference.reference!.name)}`;
        return { name, resource, reference };
      });
    })
    .filter(({ name }) => !taken.has(name));
}

// Names of the schema, derived from those of the model.

import { snakeCase } from "../../lib/case.ts";
import { fieldNames } from "../../model/collections.ts";
import type { Attribute, Model, ResourceModel } from "../../model/model.ts";

/** `apiKey` -> `ApiKey`, `oauthClient` -> `OAuthClient` */
export function pascalCase(name: string): string {
  return name.replace(/^oauth(?![a-z])/, "OAuth").replace(/^./, (letter) => letter.toUpperCase());
}

/** `createdAt` -> `CREATED_AT` */
export function upperCase(name: string): string {
  return snakeCase(name).toUpperCase();
}

/** Whether a word can be a value of an enum (GraphQL, section 2.9.6). */
export function isEnumValue(word: string): boolean {
  return /^[_A-Za-z]\w*$/.test(word) && !word.startsWith("__") && !["true", "false", "null"].includes(word);
}

/** The number of rows of a list without a limit. */
export const defaultListLimit = 10;

export interface InverseList {
  readonly name: string;
  readonly resource: ResourceModel;
  readonly reference: Attribute;
}

/**
 * The lists of rows whose references lead to a row: `User.posts`. Each reference has an index for its list. If a resource
 * has several references to the target, the names of the references are part of the names: `messagesAsSender`.
 */
export function inverseLists(model: Model, target: ResourceModel): InverseList[] {
  const usedNames = fieldNames(target);
  return model.resources
    .filter(({ isExposed, operations }) => isExposed && operations.has("list"))
    .flatMap((resource) => {
      const references = resource.references.filter(
        (each) => each.reference!.target === target && !each.isInternal,
      );
      return references.map((reference): InverseList => {
        const isPlain = references.length === 1 && !usedNames.has(resource.plural);
        const name = isPlain
          ? resource.plural
          : `${resource.plural}As${pascalCase(reference.reference!.name)}`;
        return { name, resource, reference };
      });
    })
    .filter(({ name }) => !usedNames.has(name));
}

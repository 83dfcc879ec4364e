// The names that a description has for resources: of their schemas, of their tags, and in sentences.

import { capitalize, spaceCase } from "../lib/case.ts";
import type { ResourceModel } from "../model/model.ts";
import { fieldNamesOf } from "../versions/field-names.ts";

const acronyms: Readonly<Record<string, string>> = { api: "API", oauth: "OAuth", id: "ID" };

/** `api key` -> `API key` */
function withAcronyms(words: string): string {
  return words
    .split(" ")
    .map((word) => acronyms[word] ?? word)
    .join(" ");
}

/** `apiKey` -> `API key` */
export function singularWords({ name }: Pick<ResourceModel, "name">): string {
  return withAcronyms(spaceCase(name));
}

/** `apiKeys` -> `API keys` */
export function pluralWords({ plural }: Pick<ResourceModel, "plural">): string {
  return withAcronyms(spaceCase(plural));
}

/** `an API key` */
export function withArticle(words: string): string {
  const isVowel = /^(?:[aeio]|u(?!ser|nit|ni))/i.test(words);
  return `${isVowel ? "an" : "a"} ${words}`;
}

/** `ApiKey`, or `PostV1` for one whose fields an older version names differently. */
export function schemaName(resource: ResourceModel): string {
  const isRenamed = fieldNamesOf(resource).toOlder.size > 0;
  return capitalize(resource.name) + (isRenamed ? capitalize(resource.version) : "");
}

// The headings of a description: a resource, or what the paths of other operations begin with.

import { camelCase, capitalize } from "../lib/case.ts";
import type { Model, ResourceModel } from "../model/model.ts";
import type { ModuleOperation, Operation } from "../model/operations.ts";
import type { TagObject } from "./description.ts";
import { pluralWords } from "./names.ts";

export class Tags {
  readonly #bySegment = new Map<string, TagObject>();
  readonly #used = new Set<string>();

  constructor({ resources }: Pick<Model, "resources">) {
    for (const resource of resources)
      if (resource.isExposed) this.#bySegment.set(resource.segment, tagOf(resource));
  }

  /** @returns the name of the tag of an operation */
  of(operation: Operation | ModuleOperation): string {
    const segment = operation.kind === "module" ? operation.path.split("/")[1]! : operation.resource.segment;
    let tag = this.#bySegment.get(segment);
    if (!tag) {
      const name = capitalize(pluralWords({ plural: camelCase(segment.replaceAll(".", "-")) }));
      tag = { name, description: descriptions[name] ?? `Operations of \`/${segment}\`.` };
      this.#bySegment.set(segment, tag);
    }
    this.#used.add(tag.name);
    return tag.name;
  }

  /** Counts a tag as used. */
  use(name: string): void {
    const isKnown = [...this.#bySegment.values()].some((tag) => tag.name === name);
    if (!isKnown) this.#bySegment.set(`/${name}`, { name, description: descriptions[name] ?? `${name}.` });
    this.#used.add(name);
  }

  /** The tags that operations have. */
  get used(): readonly TagObject[] {
    return [...this.#bySegment.values()].filter(({ name }) => this.#used.has(name));
  }
}

function tagOf(resource: ResourceModel): TagObject {
  const words = pluralWords(resource);
  return { name: capitalize(words), description: resource.description ?? `Operations on ${words}.` };
}

const descriptions: Readonly<Record<string, string>> = {
  Me: "The caller: what the credential is, and what it may do.",
  Events: "What happened to the rows that the caller sees.",
  Exports: "All rows of a collection, or events, in one response.",
  Imports: "Rows from lines of JSON or CSV.",
  Uploads: "The contents of files, sent before or with their rows.",
  Files: "The contents of files, at signed URLs.",
  Grants: "The access that users have given to applications.",
  GraphQL: "The same resources in one request, with selections and subscriptions.",
  OAuth: "The authorization server: OAuth 2.0 and OpenID Connect.",
  Server: "The server itself: its health, and what describes it.",
};

// The contents of the reference pages: the operations of an API by their tags, and the schemas that they use.

import type {
  HttpMethod,
  OpenApiDescription,
  OperationObject,
  PathItem,
  Reference,
} from "../openapi/description.ts";

export interface DescribedOperation {
  /** Its summary, with the version if other versions have the same operation. */
  readonly title: string;
  readonly method: Uppercase<HttpMethod>;
  readonly path: string;
  /** The URL that comes before the path. */
  readonly server: string;
  readonly operation: OperationObject;
}

/** The operations with a tag, on a page of their own. */
export interface Section {
  readonly name: string;
  /** The last segment of the path of its page. */
  readonly slug: string;
  readonly description: string;
  readonly operations: readonly DescribedOperation[];
  /** The names of the schemas that the page explains. */
  readonly schemas: readonly string[];
}

const methods = ["get", "post", "put", "patch", "delete"] as const;
/** Schemas that more sections than this use are explained on a page of their own. */
const maxSections = 2;
const schemaPrefix = "#/components/schemas/";

/** An OpenAPI description, arranged as the pages show it. */
export class Contents {
  readonly description: OpenApiDescription;
  readonly sections: readonly Section[];
  /** Schemas that belong to no section. */
  readonly sharedSchemas: readonly string[];
  readonly #slugs = new Map<string, string>();

  /** @param ownSegments first segments of the paths that the app declares; their sections come first */
  constructor(description: OpenApiDescription, ownSegments: ReadonlySet<string>) {
    this.description = description;
    const operations = Map.groupBy(titledOperations(description), ({ operation }) => operation.tags[0]!);
    const used = [...operations].map(([tag, ofTag]) => [tag, this.#schemasIn(ofTag)] as const);
    const counts = new Map<string, number>();
    for (const [, names] of used) for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    for (const [tag, names] of used)
      for (const name of names)
        if (counts.get(name)! <= maxSections && !this.#slugs.has(name)) this.#slugs.set(name, slugOf(tag));
    const sections = description.tags.flatMap(({ name, description }) => {
      const slug = slugOf(name);
      const ofTag = operations.get(name);
      return ofTag ? [{ name, slug, description, operations: ofTag, schemas: this.#schemasOf(slug) }] : [];
    });
    const isOwn = ({ operations: ofTag }: Section): boolean =>
      ofTag.some(({ path }) => ownSegments.has(path.split("/")[2]!));
    this.sections = [...sections.filter(isOwn), ...sections.filter((each) => !isOwn(each))];
    this.sharedSchemas = this.#schemasOf(undefined);
  }

  /** Follows a reference within the description. */
  resolve<T extends object>(value: T | Reference): T {
    if (!("$ref" in value) || typeof value.$ref !== "string") return value as T;
    const [, ...keys] = value.$ref.split("/");
    // A description refers only to components that it has, of the kind that is expected there.
    return keys.reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], this.description) as T;
  }

  /** The path of the explanation of a schema, below that of the pages. */
  schemaPath(name: string): string {
    const slug = this.#slugs.get(name);
    return `${slug === undefined ? "/schemas" : `/operations/${slug}`}#${schemaAnchor(name)}`;
  }

  #schemasOf(slug: string | undefined): string[] {
    return Object.keys(this.description.components.schemas).filter((name) => this.#slugs.get(name) === slug);
  }

  /** The names of all schemas that a part of the description refers to, directly or not. */
  #schemasIn(part: unknown, found = new Set<string>(), visited = new Set<unknown>()): ReadonlySet<string> {
    if (typeof part !== "object" || part === null || visited.has(part)) return found;
    visited.add(part);
    const { $ref } = part as { $ref?: unknown };
    if (typeof $ref === "string") {
      if ($ref.startsWith(schemaPrefix)) found.add($ref.slice(schemaPrefix.length));
      return this.#schemasIn(this.resolve({ $ref }), found, visited);
    }
    for (const value of Object.values(part)) this.#schemasIn(value, found, visited);
    return found;
  }
}

/** The name of the schema that a reference names. */
export function schemaNameOf({ $ref }: Reference): string {
  return $ref.slice($ref.lastIndexOf("/") + 1);
}

export function schemaAnchor(name: string): string {
  return `schema-${name}`;
}

function titledOperations(description: OpenApiDescription): DescribedOperation[] {
  const operations = operationsOf(description);
  const counts = Map.groupBy(operations, ({ operation }) => `${operation.tags[0]} ${operation.summary}`);
  return operations.map((each) => {
    const { tags, summary } = each.operation;
    const isAlone = counts.get(`${tags[0]} ${summary}`)!.length === 1;
    return { ...each, title: isAlone ? summary : `${summary} (${each.path.split("/")[1]})` };
  });
}

function operationsOf({ paths, servers }: OpenApiDescription): Omit<DescribedOperation, "title">[] {
  return Object.entries(paths).flatMap(([path, item]: [string, PathItem]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      const server = (item.servers ?? servers)[0]!.url;
      // TypeScript does not know what toUpperCase returns.
      return operation
        ? [{ method: method.toUpperCase() as Uppercase<HttpMethod>, path, server, operation }]
        : [];
    }),
  );
}

/** `API keys` -> `api-keys` */
function slugOf(tag: string): string {
  return tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}

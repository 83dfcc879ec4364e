// All reference pages of an API, and the index for their search.

import { catalogue } from "../errors.ts";
import type { Contents } from "./contents.ts";
import { graphqlPage, graphqlTypeNames } from "./graphql-page.ts";
import { errorsPage, quotasPage, schemasPage } from "./guide-pages.ts";
import { documentOf, type PageList } from "./layout.ts";
import { overviewPage } from "./overview-page.ts";
import { parametersOf } from "./sample-request.ts";
import { sectionPage } from "./section-page.ts";
import type { Page, Site } from "./site.ts";
import { webhooksPage } from "./webhooks-page.ts";

/** A result of the search: its title, its kind, its address, and further words that find it. */
export type SearchEntry = readonly [title: string, kind: string, url: string, words: string];

export class ReferencePages {
  readonly #site: Site;
  readonly #pages: PageList;
  readonly #byPath: ReadonlyMap<string, Page>;

  constructor(site: Site) {
    this.#site = site;
    const guides = [overviewPage, errorsPage, quotasPage, webhooksPage, graphqlPage, schemasPage];
    this.#pages = { guides, sections: site.contents.sections.map(sectionPage) };
    this.#byPath = new Map([...guides, ...this.#pages.sections].map((page) => [page.path, page]));
  }

  /** Their paths, below that of the first one. */
  get paths(): readonly string[] {
    return [...this.#byPath.keys()];
  }

  /** The HTML document at a path below that of the pages; undefined if there is none. */
  documentAt(path: string): string | undefined {
    const page = this.#byPath.get(path);
    return page && documentOf(page, this.#pages, this.#site);
  }

  searchIndex(): readonly SearchEntry[] {
    const { contents, path, model } = this.#site;
    const { guides } = this.#pages;
    return [
      ...guides.flatMap((page): SearchEntry[] => [
        [page.title, "Page", path + page.path, ""],
        ...page.parts.map(
          ({ anchor, title }): SearchEntry => [title, page.title, `${path}${page.path}#${anchor}`, ""],
        ),
      ]),
      ...operationEntries(contents, path),
      ...Object.entries(contents.description.components.schemas).map(
        ([name, { properties = {} }]): SearchEntry => [
          name,
          "Schema",
          path + contents.schemaPath(name),
          Object.keys(properties as object).join(" "),
        ],
      ),
      ...Object.entries(catalogue).map(
        ([code, [status]]): SearchEntry => [code, `Error ${status}`, `${path}/errors#${code}`, ""],
      ),
      ...Object.keys(contents.description.webhooks ?? {}).map(
        (type): SearchEntry => [type, "Event", `${path}/webhooks#event-${type}`, ""],
      ),
      ...graphqlTypeNames(model).map(
        (name): SearchEntry => [name, "GraphQL type", `${path}/graphql#${name}`, ""],
      ),
    ];
  }
}

function operationEntries(contents: Contents, path: string): SearchEntry[] {
  return contents.sections.flatMap(({ slug, operations }) =>
    operations.map((described): SearchEntry => {
      const { operationId } = described.operation;
      const parameters = parametersOf(described, contents).map(({ name }) => name);
      return [
        described.title,
        `${described.method} ${described.path}`,
        `${path}/operations/${slug}#${operationId}`,
        [operationId, ...parameters].join(" "),
      ];
    }),
  );
}

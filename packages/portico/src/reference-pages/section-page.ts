// A page with the operations of a tag, and the schemas that they use.

import { type Html, html } from "../lib/html.ts";
import type { Section } from "./contents.ts";
import { graphqlOf } from "./graphql-page.ts";
import { blocks } from "./markdown.ts";
import { operationView } from "./operation-view.ts";
import { schemaView } from "./schema-view.ts";
import type { Page, Site } from "./site.ts";

export function sectionPage(section: Section): Page {
  const { name, slug, description, operations, schemas } = section;
  return {
    path: `/operations/${slug}`,
    title: name,
    parts: operations.map(({ title, operation }) => ({ anchor: operation.operationId, title })),
    render: (site) => html`<h1 tabindex="-1">${name}</h1>
${blocks(description)}${graphqlView(section, site)}${operations.map((each) => operationView(each, site))}
${
  schemas.length === 0
    ? undefined
    : html`<h2 id="schemas" tabindex="-1">Schemas</h2>\n${schemas.map((schema) => schemaView(schema, site, true))}`
}`,
  };
}

/** The same rows in GraphQL. */
function graphqlView({ schemas }: Section, site: Site): Html | undefined {
  const found = graphqlOf(schemas, site.model);
  if (!found) return undefined;
  const { type, fields } = found;
  const links = fields.map(
    ({ root, name }) => html`<li><a href="${site.path}/graphql#${root}"><code>${name}</code></a></li>\n`,
  );
  return html`<details>
<summary>The same in GraphQL</summary>
<p>The type is <a href="${site.path}/graphql#${type}"><code>${type}</code></a>. These fields of queries, mutations and
subscriptions return it:</p>
<ul class="columns">
${links}</ul>
</details>
`;
}

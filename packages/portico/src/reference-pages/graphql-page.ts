// The page about GraphQL: how to send an operation, and the schema, type by type.

import {
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isIntrospectionType,
  isSpecifiedScalarType,
  printType,
} from "graphql";
import { buildApi } from "../graphql/schema/schema.ts";
import { html } from "../lib/html.ts";
import type { Model } from "../model/model.ts";
import { samplesView } from "./operation-view.ts";
import { keyPlaceholder } from "./sample-request.ts";
import type { Page, Site } from "./site.ts";

const schemas = new WeakMap<Model, WeakRef<GraphQLSchema>>();

/** Pages need it again only until each has been rendered. */
function schemaOf(model: Model): GraphQLSchema {
  const known = schemas.get(model)?.deref();
  if (known) return known;
  const { schema } = buildApi(model);
  schemas.set(model, new WeakRef(schema));
  return schema;
}

const roots = ["Query", "Mutation", "Subscription"] as const;
type Root = (typeof roots)[number];

interface Found {
  readonly type: string;
  readonly fields: readonly { readonly root: Root; readonly name: string }[];
}

/** The type with the name of one of these schemas, and the root fields that return it. */
export function graphqlOf(names: readonly string[], model: Model): Found | undefined {
  const schema = schemaOf(model);
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  const type = Object.keys(schema.getTypeMap()).find((name) => wanted.has(name.toLowerCase()));
  if (type === undefined) return undefined;
  const returned = new Set([type, `${type}Connection`, `${type}Event`]);
  const fields = roots.flatMap((root) =>
    Object.values(rootType(schema, root)?.getFields() ?? {})
      .filter((field) => returned.has(getNamedType(field.type).name))
      .map(({ name }) => ({ root, name })),
  );
  return { type, fields };
}

function rootType(schema: GraphQLSchema, root: Root) {
  if (root === "Query") return schema.getQueryType();
  return root === "Mutation" ? schema.getMutationType() : schema.getSubscriptionType();
}

/** The types that the schema declares: the roots first, the others by their names. */
function typesOf(schema: GraphQLSchema): readonly GraphQLNamedType[] {
  // A tilde follows all digits.
  const order = ({ name }: GraphQLNamedType): string => {
    const index = roots.indexOf(name as Root);
    return index < 0 ? `~${name}` : String(index);
  };
  return Object.values(schema.getTypeMap())
    .filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type))
    .sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** The names of all types, for the search. */
export function graphqlTypeNames(model: Model): readonly string[] {
  return typesOf(schemaOf(model)).map(({ name }) => name);
}

export const graphqlPage: Page = {
  path: "/graphql",
  title: "GraphQL",
  parts: [
    { anchor: "send", title: "Send an operation" },
    { anchor: "errors", title: "Errors" },
    { anchor: "schema", title: "Schema" },
  ],
  render: (site) => html`<h1 tabindex="-1">GraphQL</h1>
<p>GraphQL has the same rows as the REST operations, with the same credentials, scopes, quotas and errors. Rows that
refer to each other come in one response. <a href="${site.basePath}/graphql">GraphiQL</a>, an editor with completion,
runs in the browser.</p>
<section class="operation" aria-labelledby="send">
<div class="about">
<h2 id="send" tabindex="-1">Send an operation</h2>
<p class="request"><span class="method post">POST</span> <code>/graphql</code></p>
<p>The body has <code>query</code>, and optionally <code>variables</code> and <code>operationName</code>. Queries can also be
sent with GET. Several mutations of an operation are one transaction: all of them or none. Subscriptions use server-sent
events or the protocol <code>graphql-transport-ws</code>, at the same path.</p>
<h2 id="errors" tabindex="-1">Errors</h2>
<p>Each entry of <code>errors</code> has a <a href="${site.path}/errors">code</a> in <code>extensions.code</code>, and the
invalid fields in <code>extensions.details</code>.</p>
</div>
<div class="examples">
${samplesView("graphql", graphqlRequest(site))}</div>
</section>
<h2 id="schema" tabindex="-1">Schema</h2>
${typesOf(schemaOf(site.model)).map(
  (type) => html`<section class="schema" aria-labelledby="${type.name}">
<h3 id="${type.name}" tabindex="-1"><a class="anchor" href="#${type.name}">${type.name}</a></h3>
<pre><code>${printType(type)}</code></pre>
</section>
`,
)}`,
};

function graphqlRequest({ urls }: Site) {
  return {
    method: "POST",
    url: `${urls.resource}/graphql`,
    headers: { Authorization: `Bearer ${keyPlaceholder}` },
    body: { kind: "json", type: "application/json", value: { query: "{ me { kind } }" } },
    returnsJson: true,
  } as const;
}
